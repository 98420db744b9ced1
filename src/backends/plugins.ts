// The built-in plugins of this room.
import { localBackend } from './local/local-backend.ts'
import { mockBackend } from './mock/mock-backend.ts'
import { plainChat } from './mock/plain-chat.ts'
import { tinkerBackend } from './tinker/tinker-backend.ts'

export const backendPlugins = [localBackend, mockBackend, tinkerBackend, plainChat] as const
