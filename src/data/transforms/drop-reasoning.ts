import * as z from 'zod'
import { defineTransform } from '../../kernel/index.ts'
import { messagesOf, splitReasoning } from '../reasoning.ts'

/** Answers without the thoughts before them. */
export const dropReasoning = defineTransform({
  kind: 'drop_reasoning',
  summary:
    'Removes reasoning from assistant messages: `reasoning_content`, and <think> blocks at the beginning of the text.',
  params: z.strictObject({
    except_last: z
      .boolean()
      .default(false)
      .describe('Keep it in the last assistant message, as many chat models expect.'),
  }),
  async *run(rows, { params, signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      const messages = messagesOf(row, 'drop_reasoning')
      const parts = messages.map(splitReasoning)
      const last = params.except_last ? parts.findLastIndex((part) => part !== undefined) : -1
      yield {
        ...row,
        messages: messages.map((message, index) => (index === last ? message : (parts[index]?.answer ?? message))),
      }
    }
  },
})
