import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { isRow, typeWords } from '../row-field.ts'
import { rowError } from '../row-place.ts'

/** One system message for every conversation. */
export const systemPrompt = defineTransform({
  kind: 'system_prompt',
  summary: 'Gives every chat row the same system message.',
  params: z.strictObject({
    text: z.string().min(1).describe('The system message, taken as it is.'),
    existing: z
      .enum(['replace', 'keep'])
      .default('replace')
      .describe('What happens where a row has a system message already.'),
  }),
  async *run(rows, { params, signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      const messages = messagesOf(row)
      const hasSystem = messages.some(isSystem)
      if (hasSystem && params.existing === 'keep') yield row
      else {
        const others = messages.filter((message) => !isSystem(message))
        yield { ...row, messages: [{ role: 'system', content: params.text }, ...others] }
      }
    }
  },
})

function isSystem(message: unknown): boolean {
  return isRow(message) && message.role === 'system'
}

function messagesOf(row: Row): unknown[] {
  const { messages } = row
  if (Array.isArray(messages)) return messages
  throw rowError(
    row,
    messages === undefined
      ? `system_prompt: the row has no messages (it has ${Object.keys(row).join(', ')})`
      : `system_prompt: messages is ${typeWords(messages)}, not a list`,
    'put a transform that makes messages before it, such as jsonl_to_chat.',
  )
}
