import * as z from 'zod'
import { defineTransform } from '../../kernel/index.ts'
import { messagesOf, splitReasoning } from '../reasoning.ts'

/** Answers with the thoughts before them, all written in one way. */
export const keepReasoning = defineTransform({
  kind: 'keep_reasoning',
  summary: 'Keeps the reasoning of assistant messages, written in one way, and the rows that have any.',
  params: z.strictObject({
    form: z
      .enum(['field', 'text'])
      .default('field')
      .describe('field: in `reasoning_content`, for the chat template; text: as <think> before the answer.'),
    missing: z.enum(['drop', 'keep']).default('drop').describe('What happens to a row without any reasoning.'),
  }),
  async *run(rows, { params, signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      const messages = messagesOf(row, 'keep_reasoning')
      const parts = messages.map(splitReasoning)
      if (params.missing === 'drop' && parts.every((part) => part?.reasoning === undefined)) continue
      yield {
        ...row,
        messages: messages.map((message, index) => {
          const { answer, reasoning } = parts[index] ?? {}
          if (answer === undefined || reasoning === undefined) return message
          return params.form === 'field' || typeof answer.content !== 'string'
            ? { ...answer, reasoning_content: reasoning }
            : { ...answer, content: `<think>\n${reasoning}\n</think>\n\n${answer.content}` }
        }),
      }
    }
  },
})
