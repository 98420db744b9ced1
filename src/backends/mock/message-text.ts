// A message as plain text and back: reasoning in <think>, calls in <tool_call>, as many chat templates write them.
import type { ChatMessage, ToolCall } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

const think = { open: '<think>', close: '</think>' }
const call = { open: '<tool_call>', close: '</tool_call>' }

/** Reasoning, content and tool calls of a message, in this order. A message with an image is an error. */
export function messageText({ content, reasoning_content, tool_calls }: ChatMessage): string {
  const reasoning = reasoning_content === undefined ? '' : think.open + reasoning_content + think.close
  const calls = (tool_calls ?? []).map(({ function: { name, arguments: args } }) => {
    return call.open + JSON.stringify({ name, arguments: args }) + call.close
  })
  return reasoning + contentText(content) + calls.join('')
}

function contentText(content: ChatMessage['content']): string {
  if (content === null) return ''
  if (typeof content === 'string') return content
  return content
    .map((block) => {
      if (block.type === 'text' && typeof block.text === 'string') return block.text
      throw new EvsysError('DATA_INVALID', 'plain_chat: a message holds an image, and this renderer writes text only', {
        fix: 'drop rows with images, or choose a model and renderer for them.',
      })
    })
    .join('')
}

/** The assistant message that a text amounts to: what `messageText` wrote, read back. */
export function assistantMessage(text: string): ChatMessage {
  let rest = text
  let reasoning: string | undefined
  if (rest.startsWith(think.open) && rest.includes(think.close)) {
    const end = rest.indexOf(think.close)
    reasoning = rest.slice(think.open.length, end)
    rest = rest.slice(end + think.close.length)
  }
  const calls: ToolCall[] = []
  for (let found = lastCall(rest); found !== undefined; found = lastCall(rest)) {
    calls.unshift(found.call)
    rest = rest.slice(0, found.start)
  }
  return {
    role: 'assistant',
    content: rest === '' && calls.length > 0 ? null : rest,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

// The call that ends the text. What only looks like one stays content.
function lastCall(text: string): { call: ToolCall; start: number } | undefined {
  if (!text.endsWith(call.close)) return undefined
  const start = text.lastIndexOf(call.open)
  if (start === -1) return undefined
  try {
    const { name, arguments: args }: Record<string, unknown> = Object(
      JSON.parse(text.slice(start + call.open.length, -call.close.length)),
    )
    if (typeof name !== 'string' || name === '' || !(typeof args === 'string' || isMapping(args))) return undefined
    return { call: { type: 'function', function: { name, arguments: args } }, start }
  } catch {
    return undefined
  }
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
