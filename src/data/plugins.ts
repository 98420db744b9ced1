// The built-in plugins of this room.
import { inMemorySource } from './sources/in-memory-source.ts'
import { jsonSource } from './sources/json-source.ts'
import { jsonlSource } from './sources/jsonl-source.ts'
import { inMemoryStore } from './stores/in-memory-store.ts'
import { localStore } from './stores/local-store.ts'
import { dedupe } from './transforms/dedupe.ts'
import { filter } from './transforms/filter.ts'
import { identity } from './transforms/identity.ts'
import { jsonlToChat } from './transforms/jsonl-to-chat.ts'
import { mapTemplate } from './transforms/map-template.ts'
import { sample } from './transforms/sample.ts'
import { shuffle } from './transforms/shuffle.ts'
import { systemPrompt } from './transforms/system-prompt.ts'
import { toHarborTask } from './transforms/to-harbor-task.ts'
import { toPromptExample } from './transforms/to-prompt-example.ts'

export const dataPlugins = [
  jsonlSource,
  jsonSource,
  inMemorySource,
  localStore,
  inMemoryStore,
  identity,
  jsonlToChat,
  dedupe,
  filter,
  sample,
  shuffle,
  mapTemplate,
  systemPrompt,
  toPromptExample,
  toHarborTask,
] as const
