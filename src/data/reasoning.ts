// The reasoning of an assistant message: in its own field, or at the beginning of its text between <think> and </think>.
import type { Row } from '../contracts/index.ts'
import { isRow, typeWords } from './row-field.ts'
import { rowError } from './row-place.ts'

const block = /^\s*<think>([\s\S]*?)<\/think>\s*/

export interface SplitMessage {
  /** The message without its reasoning. */
  readonly answer: Row
  readonly reasoning: string | undefined
}

/** Takes the reasoning out of a message; one that is not an assistant's has none. */
export function splitReasoning(message: unknown): SplitMessage | undefined {
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

/** The messages of a chat row, or an error that says what to put before. */
export function messagesOf(row: Row, transform: string): unknown[] {
  const { messages } = row
  if (Array.isArray(messages)) return messages
  const what =
    messages === undefined
      ? `the row has no messages (it has ${Object.keys(row).join(', ')})`
      : `messages is ${typeWords(messages)}, not a list`
  throw rowError(row, `${transform}: ${what}`, 'put a transform that makes messages before it, such as jsonl_to_chat.')
}
