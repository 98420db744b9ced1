// What other rooms may use of backends.
import { localClient, tinkerClient } from './clients/client-plugins.ts'
import { localBackend } from './local/local-backend.ts'
import { mockBackend } from './mock/mock-backend.ts'
import { plainChat } from './models/mock-models.ts'
import { tinkerBackend } from './tinker/tinker-backend.ts'

export { type EngineKind, engineKinds } from './local/engine-kinds.ts'
export { warmUpClient } from './local/load-client.ts'
export type { TrainerProcess, TrainerProcessOptions } from './local/start-trainer-process.ts'
export { mockBackend } from './mock/mock-backend.ts'
export { byteTokenizer, plainChat } from './models/mock-models.ts'
export { openModelText } from './tinker/open-client-backend.ts'

/** What starts a trainer before its run is known. Imported on demand: most commands start none. */
export function loadTrainerSpare(): Promise<typeof import('./local/trainer-spare.ts')> {
  return import('./local/trainer-spare.ts')
}

/** Starts a trainer process, or uses the spare one. */
export const startTrainer: typeof import('./local/start-trainer-process.ts').startTrainerProcess = async (options) =>
  (await import('./local/start-trainer-process.ts')).startTrainerProcess(options)

/** Trainers of this machine. Imported on demand: most commands start none. */
export function loadLocalTrainer(): Promise<typeof import('./local/index.ts')> {
  return import('./local/index.ts')
}

/** The built-in plugins of this room. */
export const backendPlugins = [localBackend, mockBackend, tinkerBackend, plainChat, localClient, tinkerClient] as const
