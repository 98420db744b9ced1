// The built-in plugins of this room.
import { csvSource } from './sources/csv-source.ts'
import { datasetSource } from './sources/dataset-source.ts'
import { folderSource } from './sources/folder-source.ts'
import { hfDatasetSource } from './sources/hf-dataset-source.ts'
import { inMemorySource } from './sources/in-memory-source.ts'
import { jsonSource } from './sources/json-source.ts'
import { jsonlSource } from './sources/jsonl-source.ts'
import { parquetSource } from './sources/parquet-source.ts'
import { inMemoryStore } from './stores/in-memory-store.ts'
import { localStore } from './stores/local-store.ts'
import { dedupe } from './transforms/dedupe.ts'
import { dropReasoning } from './transforms/drop-reasoning.ts'
import { filter } from './transforms/filter.ts'
import { identity } from './transforms/identity.ts'
import { jsonlToChat } from './transforms/jsonl-to-chat.ts'
import { keepReasoning } from './transforms/keep-reasoning.ts'
import { mapTemplate } from './transforms/map-template.ts'
import { mix } from './transforms/mix.ts'
import { sample } from './transforms/sample.ts'
import { shuffle } from './transforms/shuffle.ts'
import { split } from './transforms/split.ts'
import { systemPrompt } from './transforms/system-prompt.ts'
import { toHarborTask } from './transforms/to-harbor-task.ts'
import { toPromptExample } from './transforms/to-prompt-example.ts'

export const dataPlugins = [
  jsonlSource,
  jsonSource,
  inMemorySource,
  csvSource,
  parquetSource,
  folderSource,
  hfDatasetSource,
  datasetSource,
  localStore,
  inMemoryStore,
  identity,
  jsonlToChat,
  dedupe,
  filter,
  sample,
  shuffle,
  mapTemplate,
  mix,
  split,
  dropReasoning,
  keepReasoning,
  systemPrompt,
  toPromptExample,
  toHarborTask,
] as const
