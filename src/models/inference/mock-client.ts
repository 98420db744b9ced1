import * as z from 'zod'
import { defineInferenceClient } from '../../kernel/index.ts'
import { contentText } from '../chat/guard-messages.ts'

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
