// What other rooms may use of backends.
export type { EngineKind } from './local/engine-kinds.ts'
export { warmUpClient } from './local/load-client.ts'
export { mockBackend } from './mock/mock-backend.ts'
export { byteTokenizer, plainChat } from './models/mock-models.ts'
export { loadLocalTrainer, loadTrainerSpare } from './on-demand.ts'
export { backendPlugins } from './plugins.ts'
export { openModelText } from './tinker/open-client-backend.ts'
