// What other rooms may use of backends.
export { type EarlyStart, earlyStart } from './local/early-start.ts'
export type { EngineKind } from './local/engine-kinds.ts'
export { byteTokenizer } from './mock/byte-tokenizer.ts'
export { mockBackend } from './mock/mock-backend.ts'
export { plainChat } from './mock/plain-chat.ts'
export { backendPlugins } from './plugins.ts'
export { openModelText } from './tinker/open-model-text.ts'

/** Trainers of this machine. Imported on demand: most commands start none. */
export function loadLocalTrainer(): Promise<typeof import('./local/index.ts')> {
  return import('./local/index.ts')
}
