// The built-in plugins of this room.
import { mockBackend } from './mock/mock-backend.ts'
import { plainChat } from './mock/plain-chat.ts'

export const backendPlugins = [mockBackend, plainChat] as const
