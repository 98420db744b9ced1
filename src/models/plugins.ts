// The built-in plugins of this room: the model's own template, renderers that are named after families of models, clients of APIs.
import { chatTemplate } from './chat/chat-template.ts'
import { inferenceClients } from './inference/plugins.ts'
import { namedRenderers } from './renderers/plugins.ts'

export const modelPlugins = [chatTemplate, ...namedRenderers, ...inferenceClients] as const
