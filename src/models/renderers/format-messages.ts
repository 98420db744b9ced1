import type { ChatMessage } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { asObject, contentText } from '../chat/guard-messages.ts'
import type { FormatMessage } from './chat-format.ts'

/** Messages for a format, in the Unicode form of the tokenizer. An image is an error. */
export function formatMessages(messages: readonly ChatMessage[], form: string | undefined): FormatMessage[] {
  const normal = (text: string) => (form === undefined ? text : text.normalize(form))
  return messages.map((message, index) => ({
    role: message.role,
    text: normal(contentText(message.content)),
    reasoning: message.reasoning_content === undefined ? undefined : normal(message.reasoning_content),
    calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
      id: id === undefined ? undefined : normal(id),
      name: normal(name),
      args: deepNormal(asObject(args), normal),
    })),
    name: message.name === undefined ? undefined : normal(message.name),
    callId: message.tool_call_id === undefined ? undefined : normal(message.tool_call_id),
    index,
  }))
}

/** A message that a format puts in. */
export function ownMessage(role: FormatMessage['role'], text: string): FormatMessage {
  return { role, text, reasoning: undefined, calls: [], name: undefined, callId: undefined, index: -1 }
}

/** The last message that asks something: results of tools that are written as user messages do not. -1: none. */
export function lastQuery(messages: readonly FormatMessage[]): number {
  return messages.findLastIndex(({ role, text }) => {
    const trimmed = text.trim()
    return role === 'user' && !(trimmed.startsWith('<tool_response>') && trimmed.endsWith('</tool_response>'))
  })
}

/** Reasoning that stands inside the text, taken out of it, as several templates do. */
export function splitReasoning({ text, reasoning }: FormatMessage): { text: string; reasoning: string } {
  if (reasoning !== undefined || !text.includes('</think>')) return { text, reasoning: reasoning ?? '' }
  const [before = ''] = text.split('</think>')
  const inner = before.replace(/\n+$/, '').split('<think>').at(-1) ?? ''
  return { reasoning: inner.replace(/^\n+/, ''), text: (text.split('</think>').at(-1) ?? '').replace(/^\n+/, '') }
}

export function refused(format: string, what: string, fix: string): EvsysError {
  return new EvsysError('DATA_INVALID', `${format}: ${what}`, { fix })
}

function deepNormal(value: unknown, normal: (text: string) => string): unknown {
  if (typeof value === 'string') return normal(value)
  if (Array.isArray(value)) return value.map((item) => deepNormal(item, normal))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [normal(key), deepNormal(item, normal)]))
}
