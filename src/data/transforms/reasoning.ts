import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'
import { isRow, messagesOf } from '../rows/raw-row.ts'

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

// The reasoning of an assistant message: in its own field, or at the beginning of its text between <think> and </think>.
const block = /^\s*<think>([\s\S]*?)<\/think>\s*/

/** The message of an assistant without its reasoning, and that; undefined for any other message. */
function splitReasoning(message: unknown): { answer: Row; reasoning: string | undefined } | undefined {
  if (!isRow(message) || message.role !== 'assistant') return undefined
  const { reasoning_content, ...answer } = message
  const field = typeof reasoning_content === 'string' && reasoning_content !== '' ? reasoning_content : undefined
  if (typeof answer.content !== 'string') return { answer, reasoning: field }
  const [whole, inside = ''] = block.exec(answer.content) ?? []
  if (whole === undefined) return { answer, reasoning: field }
  const text = inside.trim()
  return {
    answer: { ...answer, content: answer.content.slice(whole.length) },
    reasoning: field ?? (text === '' ? undefined : text),
  }
}
