// What a provider's API is, as data and two functions: how a conversation is written for it, and how its answer is read.
import * as z from 'zod'
import {
  type ChatMessage,
  type Generated,
  type GenerateRequest,
  TokenPrice,
  type ToolCall,
} from '../../contracts/index.ts'
import { EvsysError, isMapping } from '../../kernel/index.ts'

/** Tokens as a provider counts them. */
export interface TokenCounts {
  /** All of the prompt, also what was in the cache. */
  readonly prompt: number
  readonly completion: number
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
}

/** What a provider answered. */
export interface ProviderAnswer extends Pick<Generated, 'text' | 'reasoning' | 'toolCalls' | 'stopReason'> {
  readonly model?: string | undefined
  readonly counts: TokenCounts
}

/** A request as it is sent: undefined are the fields that the model does not take, and lists that are empty. */
export type WireRequest = Pick<GenerateRequest, 'maxTokens' | 'topP' | 'topK' | 'stop' | 'tools'> & {
  readonly model: string
  readonly messages: readonly LinkedMessage[]
  readonly temperature: number | undefined
  readonly seed: number | undefined
}

export interface WireFormat<S extends z.ZodType = z.ZodType> {
  /** After the base URL. */
  path(model: string): string
  headers(key: string | undefined): Record<string, string>
  body(request: WireRequest): Record<string, unknown>
  /** The parts of an answer that are read. */
  readonly answer: S
  read(answer: z.output<S>): ProviderAnswer
}

const words = z.string().min(1)
const shortWait = z.number().min(0).max(60)
const mapping = z.record(z.string(), z.unknown())
export const address = z.url({ protocol: /^https?$/ })

/** Fields of a request that some models refuse. */
const OmittedField = z.enum(['temperature', 'top_p', 'top_k', 'seed', 'stop'])
export type OmittedField = z.infer<typeof OmittedField>

/** What every client of an API takes. A client adds where its provider is, and the key. */
export const sharedClientParams = {
  model: words.describe('The model, as its provider names it.'),
  system_prompt: words.optional().describe('Put before every conversation, ahead of its own system message.'),
  // Node itself gives up on an answer that has not begun after 300 seconds.
  timeout_s: z.number().gt(0).max(300).default(120).describe('How long one attempt may take.'),
  max_attempts: z.int().min(1).max(20).default(5).describe('How often a call is tried, where trying again may help.'),
  retry_wait_s: shortWait
    .default(0.5)
    .describe('Wait before the second attempt, doubled before each further one; a provider may ask for more.'),
  extra_headers: z.record(z.string(), z.string()).default({}).describe('Sent with every request.'),
  extra_body: mapping
    .default({})
    .describe('Put into the body of every request: options of the provider that have no param here.'),
  omit: z.array(OmittedField).default([]).describe('Fields that the model does not take; they are not sent.'),
  price: TokenPrice.optional().describe('Dollars for a million tokens; wins over the built-in table.'),
}

/** The params of any client of an API. */
export type ClientParams = z.infer<z.ZodObject<typeof sharedClientParams>> & {
  readonly base_url: string
  readonly api_key?: string | undefined
}

/** Address of a provider. */
export function baseUrl(provider: string) {
  return address.default(provider).describe('Address of the provider, or of a gateway that stands in for it.')
}

/** Key of a provider: a reference to a secret, so that no file holds it. */
export function apiKey(secret: string) {
  return words.default(`\${secret:${secret}}`).describe('The key; write it as a reference to a secret.')
}

// What a message holds: texts, and images by their address.
/** An image is an address, and its bytes where it is a data: one. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly url: string; readonly data: { mime: string; base64: string } | undefined }

/** The parts of a message. An image is an `image_url` block with a data: or http(s) address. */
export function contentParts(content: ChatMessage['content']): ContentPart[] {
  if (content === null) return []
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return content.map((block): ContentPart => {
    if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
    const url = urlOf(block)
    if (url === undefined) {
      throw new EvsysError('DATA_INVALID', 'an image of a message has no address', {
        fix: 'write it as { type: image_url, image_url: { url } } with a data: or https: address.',
      })
    }
    const [, mime, base64] = /^data:([\w.+/-]+);base64,([A-Za-z0-9+/=]+)$/.exec(url) ?? []
    return { type: 'image', url, data: mime === undefined || base64 === undefined ? undefined : { mime, base64 } }
  })
}

/** The text of a message where no image is allowed. */
export function plainText(content: ChatMessage['content'], where: string): string {
  return contentParts(content)
    .map((part) => {
      if (part.type === 'text') return part.text
      throw new EvsysError('DATA_INVALID', `${where} holds an image`, { fix: 'only user messages may hold images.' })
    })
    .join('')
}

function urlOf(block: Readonly<Record<string, unknown>>): string | undefined {
  const { image_url } = block
  const url: unknown = typeof image_url === 'object' && image_url !== null ? Reflect.get(image_url, 'url') : image_url
  return typeof url === 'string' && /^(https?|data):/.test(url) ? url : undefined
}

// Tool calls and their results, tied by id. Rows of training data often leave ids out; every API wants them.
/** A call with what all APIs need: an id, and arguments as an object. */
interface LinkedCall {
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
    if (isMapping(value)) return { ...value }
  } catch {
    // reported below
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

/** System messages at the beginning, as texts, and what follows them; a later one is an error of models of this `family`. */
export function splitSystem(messages: readonly LinkedMessage[], family: string) {
  const begin = messages.findIndex(({ role }) => role !== 'system')
  const rest = begin === -1 ? [] : messages.slice(begin)
  if (rest.some(({ role }) => role === 'system')) {
    throw new EvsysError('DATA_INVALID', 'a system message stands after the beginning of the conversation', {
      fix: `${family} models take system messages at the beginning only.`,
    })
  }
  const first = messages.slice(0, messages.length - rest.length)
  return { system: first.map(({ content }) => plainText(content, 'the system message')), rest }
}

/** Messages as turns: what one side says in a row is one turn, and an empty message is none. */
export function turnsOf(messages: readonly LinkedMessage[], partsOf: (message: LinkedMessage) => unknown[]) {
  const list: { isAnswer: boolean; parts: unknown[] }[] = []
  for (const message of messages) {
    const isAnswer = message.role === 'assistant'
    const parts = partsOf(message)
    const last = list.at(-1)
    if (parts.length === 0) continue
    if (last?.isAnswer === isAnswer) last.parts.push(...parts)
    else list.push({ isAnswer, parts })
  }
  return list
}
