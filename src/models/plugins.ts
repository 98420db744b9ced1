// The built-in plugins of this room: the model's own template, renderers that are named after families of models, clients of APIs.
import * as z from 'zod'
import type { OpenRenderer, Renderer, Tokenizer } from '../contracts/index.ts'
import { defineInferenceClient, keyedRandom, unknownKind } from '../kernel/index.ts'
import { chatTemplate } from './chat/chat-template-renderer.ts'
import { contentText } from './chat/guard-messages.ts'
import { anthropicClient } from './inference/anthropic.ts'
import { geminiClient } from './inference/gemini.ts'
import { openaiClient, openaiCompatibleClient } from './inference/openai.ts'
import { namedRenderers } from './renderers/named-renderers.ts'

/** Answers with a fixed text: for trying out what is around a model. */
export const mockClient = defineInferenceClient({
  kind: 'mock',
  summary: 'Answers with a fixed text, at no cost: for trying out what is around a model.',
  params: z.strictObject({
    model: z.string().min(1).default('mock').describe('Name that the answers carry.'),
    template: z.string().default('{prompt}').describe('The answer; `{prompt}` is replaced by the last user message.'),
  }),
  async open({ params: { model, template } }) {
    return {
      async generate({ messages, maxTokens }, signal) {
        signal.throwIfAborted()
        const asked = messages.findLast(({ role }) => role === 'user')
        const words =
          template.replaceAll('{prompt}', () => contentText(asked?.content ?? '')).match(/\s*\S+|\s+$/g) ?? []
        const prompt = messages.flatMap(({ content }) => contentText(content).match(/\S+/g) ?? [])
        return {
          text: words.slice(0, maxTokens).join(''),
          model,
          stopReason: words.length > maxTokens ? 'length' : 'stop',
          usage: {
            promptTokens: prompt.length,
            completionTokens: Math.min(words.length, maxTokens),
            latencyS: 0,
            costUsd: 0,
          },
        }
      },
    }
  },
})

// The clients of APIs. Those that draw samples here live with the backends, which know the training protocol.
export const inferenceClients = [
  anthropicClient,
  geminiClient,
  mockClient,
  openaiClient,
  openaiCompatibleClient,
] as const

export const modelPlugins = [chatTemplate, ...namedRenderers, ...inferenceClients] as const

/** Opens a renderer of this room by its name, with the default params. An unknown name is an error with what was probably meant. */
export async function openNamedRenderer(
  kind: string,
  model: { readonly tokenizer: Tokenizer; readonly chatTemplate?: string | undefined },
): Promise<OpenRenderer> {
  const known: readonly Renderer[] = [chatTemplate, ...namedRenderers]
  const plugin = known.find((each) => each.kind === kind)
  if (plugin === undefined) {
    throw unknownKind(
      'renderer',
      kind,
      known.map((each) => each.kind),
    )
  }
  return plugin.open({
    params: plugin.params.parse({}),
    signal: new AbortController().signal,
    random: (...path) => keyedRandom(0, ...path),
    log: () => {},
    secret: () => '',
    ...model,
  })
}
