// The built-in plugins of this room. A process that lists them loads what declares them and no more of the room.
import { datasetSource, folderSource, hfDatasetSource } from './sources/dataset-sources.ts'
import { csvSource, inMemorySource, jsonlSource, jsonSource, noSource, parquetSource } from './sources/file-sources.ts'
import { inMemoryStore, localStore } from './stores/stores.ts'
import { cap, sort } from './transforms/arrange-rows.ts'
import { fewShot, jsonlToChat, mapTemplate, systemPrompt } from './transforms/chat-rows.ts'
import { dedupe } from './transforms/dedupe.ts'
import { mix } from './transforms/mix.ts'
import { dropReasoning, keepReasoning } from './transforms/reasoning.ts'
import { filter, identity, sample, shuffle, split } from './transforms/select-rows.ts'
import { toHarborTask, toPromptExample } from './transforms/to-tasks.ts'

const sources = [
  ...[jsonlSource, jsonSource, inMemorySource, csvSource, parquetSource, noSource],
  ...[folderSource, hfDatasetSource, datasetSource],
] as const
const rowTransforms = [
  identity,
  jsonlToChat,
  dedupe,
  filter,
  sample,
  shuffle,
  mapTemplate,
  mix,
  split,
  cap,
  sort,
] as const
const shapeTransforms = [dropReasoning, keepReasoning, systemPrompt, fewShot, toPromptExample, toHarborTask] as const

/** The built-in sources, stores and transforms. */
export const dataPlugins = [...sources, localStore, inMemoryStore, ...rowTransforms, ...shapeTransforms] as const
