// The tokens of mock models: one for each byte, then the special ones that frame a conversation.
import type { ChatMessage, OpenRenderer, Rendered, Tokenizer, ToolCall } from '../../contracts/index.ts'
import { defineRenderer, EvsysError, isMapping } from '../../kernel/index.ts'
import type { ModelCatalog, ServedModel } from '../../trainer/index.ts'

const names = ['<|end|>', '<|system|>', '<|user|>', '<|assistant|>', '<|tool|>'] as const
type SpecialName = (typeof names)[number]

const firstSpecial = 256

/** Special tokens by the name that stands for them in text. */
export const specialTokens = Object.freeze(
  Object.fromEntries(names.map((name, index) => [name, firstSpecial + index])) as Record<SpecialName, number>, // all names are keys
)

/** Name of a special token; undefined for a byte. */
function specialName(token: number): SpecialName | undefined {
  return names[token - firstSpecial]
}

/** Bytes and special tokens, rounded up so that one can be added without invalidating checkpoints. */
export const mockVocabSize = 264

/** Nothing in a bigram model limits the length of a text; this bounds what one request may cost. */
export const mockMaxContext = 131_072

// Text as its UTF-8 bytes: every text has exactly one encoding, and none can spell a special token by accident.
const specialText = new RegExp(`(${Object.keys(specialTokens).map(escaped).join('|')})`)

/** The tokenizer of mock models. */
export const byteTokenizer: Tokenizer = Object.freeze({
  vocabSize: mockVocabSize,
  encode(text: string, { special = false }: { special?: boolean | undefined } = {}): Int32Array {
    if (!special) return bytesOf(text)
    const parts = text.split(specialText).map((part) => (isSpecial(part) ? [specialTokens[part]] : bytesOf(part)))
    return Int32Array.from(parts.flatMap((part) => [...part]))
  },
  /** Bytes that are no UTF-8 become U+FFFD; special tokens are written by name. */
  decode(tokens: Int32Array): string {
    let text = ''
    let bytes: number[] = []
    const flush = () => {
      text += Buffer.from(bytes).toString('utf8')
      bytes = []
    }
    for (const token of tokens) {
      if (!Number.isInteger(token) || token < 0 || token >= mockVocabSize) {
        throw new RangeError(`${token} is no token: they go from 0 to ${mockVocabSize - 1}`)
      }
      if (token < 256) bytes.push(token)
      else {
        flush()
        text += specialName(token) ?? `<|${token}|>`
      }
    }
    flush()
    return text
  },
})

function bytesOf(text: string): Int32Array {
  return Int32Array.from(Buffer.from(text, 'utf8'))
}

function isSpecial(text: string): text is SpecialName {
  return Object.hasOwn(specialTokens, text)
}

function escaped(text: string): string {
  return text.replace(/[|\\{}()[\]^$+*?.]/g, '\\$&')
}

/**
 * Conversations for mock models: a role token, the text, an end token. Content is encoded without special tokens, so no message
 * can forge the end of another.
 */
export const plainChat = defineRenderer({
  kind: 'plain_chat',
  summary: 'Role token, text, end token: the chat format of mock models.',
  async open({ tokenizer }) {
    if (tokenizer.vocabSize !== mockVocabSize) {
      throw new EvsysError('PLUGIN_FAILED', 'plain_chat: the model does not have the tokens of a mock model', {
        fix: 'leave out renderer_name to use the model’s own template.',
      })
    }
    return openPlainChat(tokenizer)
  },
})

const { '<|end|>': end } = specialTokens

export function openPlainChat(tokenizer: Tokenizer): OpenRenderer {
  return {
    stop: [end],
    conversation: (messages) => rendered(messages, tokenizer),
    prompt(messages) {
      const { tokens } = rendered(messages, tokenizer)
      return Int32Array.from([...tokens, specialTokens['<|assistant|>']])
    },
    parse(completion) {
      const at = completion.indexOf(end)
      const answer = at === -1 ? completion : completion.subarray(0, at)
      return { message: assistantMessage(tokenizer.decode(answer)), complete: at !== -1 }
    },
  }
}

// The role token is template text, written by the caller; content and end are the message, produced by an assistant.
function rendered(messages: readonly ChatMessage[], tokenizer: Tokenizer): Rendered {
  const parts = messages.map((message) => tokenizer.encode(messageText(message)))
  const length = parts.reduce((sum, part) => sum + part.length + 2, 0)
  const tokens = new Int32Array(length)
  const owner = new Int32Array(length).fill(-1)
  const produced = new Uint8Array(length)
  let at = 0
  for (const [index, { role }] of messages.entries()) {
    const content = parts[index] ?? new Int32Array()
    tokens[at] = specialTokens[`<|${role}|>`]
    tokens.set(content, at + 1)
    const next = at + content.length + 2
    tokens[next - 1] = end
    owner.fill(index, at + 1, next)
    if (role === 'assistant') produced.fill(1, at + 1, next)
    at = next
  }
  return { tokens, message: owner, produced }
}

// A message as plain text and back: reasoning in <think>, calls in <tool_call>, as many chat templates write them.
const think = { open: '<think>', close: '</think>' }
const call = { open: '<tool_call>', close: '</tool_call>' }

/** Reasoning, content and tool calls of a message, in this order. A message with an image is an error. */
function messageText({ content, reasoning_content, tool_calls }: ChatMessage): string {
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
function assistantMessage(text: string): ChatMessage {
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
    reasoning_content: reasoning,
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

// Mock models for a trainer: every name is one, and bytes are their tokens.
/** Base models of the mock engine. Any name can be trained; the listed ones are suggestions. */
export function mockCatalog(names: readonly string[]): ModelCatalog {
  return {
    list: async () => names.map(mockModel),
    find: async (name) => (name === '' ? undefined : mockModel(name)),
  }
}

function mockModel(name: string): ServedModel {
  return {
    name,
    arch: 'bigram',
    vocabSize: mockVocabSize,
    maxContext: mockMaxContext,
    tokenizerId: name,
    stop: [],
    text: async () => ({ tokenizer: byteTokenizer, renderer: openPlainChat(byteTokenizer) }),
  }
}
