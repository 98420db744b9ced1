// What other rooms may use of backends.
export { type EngineKind, engineKinds } from './local/engine-kinds.ts'
export { warmUpClient } from './local/load-client.ts'
export type { TrainerProcess, TrainerProcessOptions } from './local/start-trainer-process.ts'
export { mockBackend } from './mock/mock-backend.ts'
export { byteTokenizer, plainChat } from './models/mock-models.ts'
export { loadLocalTrainer, loadTrainerSpare, startTrainer } from './on-demand.ts'
export { backendPlugins } from './plugins.ts'
export { openModelText } from './tinker/open-client-backend.ts'
