// The built-in plugins of this room.
import { localClient } from './clients/local-client-plugin.ts'
import { tinkerClient } from './clients/tinker-client-plugin.ts'
import { localBackend } from './local/local-backend.ts'
import { mockBackend } from './mock/mock-backend.ts'
import { plainChat } from './mock/plain-chat.ts'
import { tinkerBackend } from './tinker/tinker-backend.ts'

export const backendPlugins = [localBackend, mockBackend, tinkerBackend, plainChat, localClient, tinkerClient] as const
