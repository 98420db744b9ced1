// Messages for a template, such that nothing in them can become a special token: where a text spells one, or could complete one
// together with its neighbours, it gets a guard, a character that occurs nowhere else.
import type { ChatMessage, ToolCall, ToolSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { anyOf } from '../tokenizer/open-tokenizer.ts'

/** A message as templates expect it. */
export type TemplateMessage = Record<string, unknown> & { role: string; content: string }

/** A character that neither the messages nor the template hold: one that Unicode reserves for such use. */
export function unusedCharacters(text: string, count: number): string[] {
  const reserved = Array.from({ length: 32 }, (_, at) => String.fromCharCode(0xfdd0 + at))
  const unused = reserved.filter((character) => !text.includes(character)).slice(0, count)
  if (unused.length === count) return unused
  throw new EvsysError('DATA_INVALID', 'a conversation holds characters that Unicode reserves for internal use', {
    fix: 'remove the characters U+FDD0 to U+FDEF from it.',
  })
}

/** Puts guards into a text. */
export type Guard = (text: string) => string

/** The guard for a set of special tokens. */
export function createGuard(special: readonly string[], guard: string): Guard {
  const names = new RegExp(anyOf(special).source, 'g')
  return (text) => {
    if (text === '') return text
    const broken = text.replaceAll(names, (name) => {
      const first = String.fromCodePoint(name.codePointAt(0) ?? 0)
      return first + guard + name.slice(first.length)
    })
    const before = special.some((name) => startsWithEndOf(text, name) || name.includes(text)) ? guard : ''
    const after = special.some((name) => endsWithStartOf(text, name)) ? guard : ''
    return before + broken + after
  }
}

/** The messages, for a template: content as text, arguments as objects, everything from outside passed through `each`. */
export function templateMessages(messages: readonly ChatMessage[], each: Guard): TemplateMessage[] {
  return messages.map(({ role, content, name, tool_call_id, reasoning_content, tool_calls }) => {
    const message: TemplateMessage = { role, content: each(contentText(content)) }
    // Templates ask `'tool_calls' in message`: what is absent must stay absent.
    if (name !== undefined) message.name = each(name)
    if (tool_call_id !== undefined) message.tool_call_id = each(tool_call_id)
    if (reasoning_content !== undefined) message.reasoning_content = each(reasoning_content)
    if (tool_calls !== undefined) message.tool_calls = tool_calls.map((call) => templateCall(call, each))
    return message
  })
}

/** Tools for a template, as most of them expect them. */
export function templateTools(tools: readonly ToolSpec[], each: Guard): unknown[] {
  return tools.map((tool) => deep({ type: 'function', function: { ...tool } }, each))
}

/** The text of a message; an image is an error. */
export function contentText(content: ChatMessage['content']): string {
  if (content === null) return ''
  if (typeof content === 'string') return content
  const texts = content.map((block) => {
    if (block.type === 'text' && typeof block.text === 'string') return block.text
    throw new EvsysError('DATA_INVALID', 'a message holds an image, and this renderer writes text only', {
      fix: 'drop rows with images, or choose a model and renderer for them.',
    })
  })
  return texts.join('')
}

function templateCall({ id, function: { name, arguments: args } }: ToolCall, each: Guard) {
  const call = { name: each(name), arguments: deep(asObject(args), each) }
  return id === undefined ? { type: 'function', function: call } : { type: 'function', id: each(id), function: call }
}

/** Arguments as the object that they are, where they are one: templates would quote JSON text once more. */
export function asObject(args: unknown): unknown {
  if (typeof args !== 'string') return args
  try {
    const value: unknown = JSON.parse(args)
    return typeof value === 'object' && value !== null ? value : args
  } catch {
    return args
  }
}

/** A JSON value with all its texts, keys included, passed through `each`. */
export function deep(value: unknown, each: Guard): unknown {
  if (typeof value === 'string') return each(value)
  if (Array.isArray(value)) return value.map((item) => deep(item, each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [each(key), deep(item, each)]))
}

// Whether the text begins with a proper end of the name: `>` or `end|>` of `<|im_end|>`.
function startsWithEndOf(text: string, name: string): boolean {
  for (let length = Math.min(text.length, name.length - 1); length > 0; length--) {
    if (text.startsWith(name.slice(-length))) return true
  }
  return false
}

// Whether the text ends with a proper beginning of the name: `<` or `<|im_end|`.
function endsWithStartOf(text: string, name: string): boolean {
  for (let length = Math.min(text.length, name.length - 1); length > 0; length--) {
    if (text.endsWith(name.slice(0, length))) return true
  }
  return false
}
