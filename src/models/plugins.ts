// The built-in plugins of this room. Renderers that are named after a family of models belong here.
import { chatTemplate } from './chat/chat-template.ts'

export const modelPlugins = [chatTemplate] as const
