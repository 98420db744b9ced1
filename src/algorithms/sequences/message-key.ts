// When two messages are the same message. Clients send back what they were answered in forms of their own: without reasoning, with
// ids of calls as they please, content as text or as blocks. What the model was told is what counts.
import type { ChatMessage, ToolCall, Turn } from '../../contracts/index.ts'
import { canonicalJson } from '../../kernel/index.ts'

/** Text that is equal for equal messages. */
export function messageKey({ role, content, tool_calls }: ChatMessage): string {
  const text = contentKey(content)
  return JSON.stringify([
    role,
    role === 'assistant' && typeof text === 'string' ? text.trim() : text,
    (tool_calls ?? []).map(({ function: { name, arguments: args } }) => [name, argumentsKey(args)]),
  ])
}

/** The answer of a turn as the message that later prompts hold. */
export function answerOf({ text, toolCalls = [] }: Pick<Turn, 'text' | 'toolCalls'>): ChatMessage {
  const calls = toolCalls.map((call): ToolCall => ({ ...call }))
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

function contentKey(content: ChatMessage['content']): unknown {
  if (content === null) return ''
  if (typeof content === 'string') return content
  if (content.every(({ type }) => type === 'text')) return content.map((block) => block.text).join('')
  return canonicalJson(content)
}

function argumentsKey(args: ToolCall['function']['arguments']): string {
  if (typeof args !== 'string') return canonicalJson(args)
  try {
    return canonicalJson(JSON.parse(args))
  } catch {
    return args
  }
}
