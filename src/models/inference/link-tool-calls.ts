// Tool calls and their results, tied by id. Rows of training data often leave ids out; every API wants them.
import type { ChatMessage, ToolCall } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

/** A call with what all APIs need: an id, and arguments as an object. */
export interface LinkedCall {
  readonly id: string
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** The call as it came. */
  readonly call: ToolCall
}

export type LinkedMessage =
  | { readonly role: 'system' | 'user'; readonly content: ChatMessage['content'] }
  | { readonly role: 'assistant'; readonly content: ChatMessage['content']; readonly calls: readonly LinkedCall[] }
  | { readonly role: 'tool'; readonly content: ChatMessage['content']; readonly id: string; readonly name: string }

/** The messages with ids on calls and results. Results without an id answer the open calls in order. */
export function linkToolCalls(messages: readonly ChatMessage[]): LinkedMessage[] {
  const open: LinkedCall[] = []
  return messages.map((message, index): LinkedMessage => {
    const { role, content } = message
    if (role === 'tool') {
      const at = message.tool_call_id === undefined ? 0 : open.findIndex(({ id }) => id === message.tool_call_id)
      const [call] = at === -1 ? [] : open.splice(at, 1)
      if (call === undefined) throw unlinked(index, message.tool_call_id)
      return { role, content, id: call.id, name: call.name }
    }
    if (role !== 'assistant') return { role, content }
    const calls = (message.tool_calls ?? []).map((call, number) => ({
      id: call.id ?? `call_${index}_${number}`,
      name: call.function.name,
      args: argumentsOf(call, index),
      call,
    }))
    open.splice(0, open.length, ...calls)
    return { role, content, calls }
  })
}

function argumentsOf({ function: { name, arguments: args } }: ToolCall, index: number): Record<string, unknown> {
  if (typeof args !== 'string') return args
  if (args.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(args)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // told below
  }
  throw new EvsysError('DATA_INVALID', `message ${index}: the arguments of the call of ${name} are no JSON object`, {
    fix: 'write arguments as an object, or as the JSON text of one.',
  })
}

function unlinked(index: number, id: string | undefined): EvsysError {
  const which = id === undefined ? 'no call is open before it' : `no open call has the id ${id}`
  return new EvsysError('DATA_INVALID', `message ${index} is the result of a tool, and ${which}`, {
    fix: 'put it after the assistant message that makes the call.',
  })
}
