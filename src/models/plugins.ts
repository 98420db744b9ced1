// The built-in plugins of this room. Renderers that are named after a family of models belong here.
import { chatTemplate } from './chat/chat-template.ts'
import { inferenceClients } from './inference/plugins.ts'

export const modelPlugins = [chatTemplate, ...inferenceClients] as const
