// What all wire formats have in common: a conversation to be continued, and the answer to it.
import type { ChatMessage, Generated, ToolCall, ToolSpec } from '../../contracts/index.ts'
import { isMapping } from '../../kernel/index.ts'

export interface ProxyRequest {
  /** As the client names it. It gets the policy, whatever it asks for. */
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ToolSpec[]
  readonly stop: readonly string[]
  readonly maxTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly seed?: number | undefined
}

/**
 * With one system message, at the beginning: templates know no other. Claude Code and Codex send more; what they say in its name later
 * is said by the user.
 */
export function withOneSystem(messages: readonly ChatMessage[]): ChatMessage[] {
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const leading = messages.slice(0, begin === -1 ? messages.length : begin)
  const rest = messages.slice(leading.length)
  const texts = leading.flatMap(({ content }) => (typeof content === 'string' ? [content] : []))
  const isText = texts.length === leading.length
  const first = leading.length > 1 && isText ? [{ role: 'system' as const, content: texts.join('\n\n') }] : leading
  return [...first, ...rest.map((each) => (each.role === 'system' ? { ...each, role: 'user' as const } : each))]
}

/** A call with an id, and its arguments as JSON text. */
interface AnsweredCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

export interface ProxyAnswer {
  /** Unique within the trial. */
  readonly id: string
  readonly createdS: number
  /** The name that the client asked for. */
  readonly model: string
  readonly generated: Generated
  readonly calls: readonly AnsweredCall[]
}

/** The calls of an answer; one without an id gets one. */
export function answeredCalls(calls: readonly ToolCall[], turn: number): AnsweredCall[] {
  return calls.map(({ id, function: { name, arguments: args } }, number) => ({
    id: id === undefined || id === '' ? `call_${turn}_${number}` : id,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }))
}

/** The same as they stand in a message; none: absent. */
export function messageCalls(calls: readonly AnsweredCall[]): ToolCall[] | undefined {
  if (calls.length === 0) return undefined
  return calls.map(({ id, name, arguments: args }) => ({ id, type: 'function', function: { name, arguments: args } }))
}

/** The text of an answer as the content of a message: null where there are calls alone. */
export function messageContent({ text }: Generated, calls: readonly AnsweredCall[]): string | null {
  return text === '' && calls.length > 0 ? null : text
}

/** Arguments as an object; text that is none is handed on under a name that says so. */
export function argumentsObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text)
    if (isMapping(value)) return { ...value }
  } catch {
    // reported below
  }
  return { malformed_arguments: text }
}

/** Text in pieces, each a word with the space before it; together they are the text. */
export function pieces(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? []
}

/** Server-sent events. The answer is whole before it is sent, so that a failure has its status and not a broken stream. */
export function eventStream(
  events: readonly { readonly event?: string | undefined; readonly data: unknown }[],
): Response {
  const text = events
    .map(({ event, data }) => {
      const line = typeof data === 'string' ? data : JSON.stringify(data)
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${line}\n\n`
    })
    .join('')
  return new Response(text, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
  })
}
