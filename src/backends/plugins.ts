// The built-in plugins of this room. A process that lists them loads what declares them and no more of the room.
import { localClient, tinkerClient } from './clients/client-plugins.ts'
import { localBackend } from './local/local-backend.ts'
import { mockBackend } from './mock/mock-backend.ts'
import { plainChat } from './models/mock-models.ts'
import { tinkerBackend } from './tinker/tinker-backend.ts'

export const backendPlugins = [localBackend, mockBackend, tinkerBackend, plainChat, localClient, tinkerClient] as const
