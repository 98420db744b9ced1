// What a chat format is: how each message is written, how an answer begins, how one is read back. A format writes text; tokens are
// made of the whole text at once, as for a chat template.
import type { ChatMessage, ToolCall, ToolSpec } from '../../contracts/index.ts'
import { EvsysError, isMapping } from '../../kernel/index.ts'
import { asObject, contentText, deep, unusedCharacters } from '../chat/guard-messages.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'

/** A call of a message, with arguments as an object where they are one. */
export interface FormatCall {
  readonly id: string | undefined
  readonly name: string
  readonly args: unknown
}

/** A message as formats see it. */
export interface FormatMessage {
  readonly role: ChatMessage['role']
  readonly text: string
  /** Absent: none was given, which differs from an empty one. */
  readonly reasoning: string | undefined
  readonly calls: readonly FormatCall[]
  /** Of a result: which function it is of, and the id of its call. */
  readonly name: string | undefined
  readonly callId: string | undefined
  /** Place among the messages of the conversation; -1 for one that the format puts in. */
  readonly index: number
}

/** Text of the format itself, or what comes from outside and can become no special token. */
export type Part = string | { readonly content: string }

/** A written message. */
export interface Turn {
  /** Belongs to no message: role and separators. */
  readonly header: readonly Part[]
  /** Belongs to the message, with what ends it. */
  readonly body: readonly Part[]
}

/** Where a message stands. */
export interface Place {
  readonly at: number
  readonly messages: readonly FormatMessage[]
  readonly isLast: boolean
}

/** The text of an answer. Special tokens of the format differ from text that spells them. */
export interface AnswerText {
  readonly text: string
  /** How a special token stands in `text`. */
  token(name: string): string
}

export interface ChatFormat {
  /** Special tokens that it is made of: a tokenizer without them is of another family. */
  readonly tokens: readonly string[]
  /** Those that end an answer; none where texts do. */
  readonly ends: readonly string[]
  readonly stopTexts?: readonly string[] | undefined
  readonly extendsHistory: boolean
  /** The answer to be produced may not hold reasoning. */
  readonly refusesReasoning?: boolean | undefined
  /** Written before everything else. */
  begin?: ((bos: string | undefined) => string) | undefined
  /** Declares tools to the model. Absent: the format has no place for them in a message. */
  declare?: ((messages: readonly FormatMessage[], tools: readonly ToolSpec[]) => readonly FormatMessage[]) | undefined
  /** Puts in messages, or refuses a conversation. */
  prepare?: ((messages: readonly FormatMessage[]) => readonly FormatMessage[]) | undefined
  turn(message: FormatMessage, place: Place): Turn
  /** What follows these messages up to where the answer begins. */
  prompt(messages: readonly FormatMessage[]): string
  /** The message that an answer amounts to. `ended`: it came to an end token. */
  parse(answer: AnswerText, ended: boolean): { message: ChatMessage; complete: boolean }
}

/** Messages for a format, in the Unicode form of the tokenizer. An image is an error. */
export function formatMessages(messages: readonly ChatMessage[], form: string | undefined): FormatMessage[] {
  const normal = (text: string) => (form === undefined ? text : text.normalize(form))
  const given = (text: string | undefined) => (text === undefined ? undefined : normal(text))
  return messages.map(({ role, content, reasoning_content, tool_calls, name, tool_call_id }, index) => ({
    role,
    text: normal(contentText(content)),
    reasoning: given(reasoning_content),
    calls: (tool_calls ?? []).map(({ id, function: call }) => ({
      id: given(id),
      name: normal(call.name),
      args: deep(asObject(call.arguments), normal),
    })),
    name: given(name),
    callId: given(tool_call_id),
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

/** The text of a completion up to `end` (-1: all of it), with its special tokens marked. */
export function readAnswer(
  tokenizer: ModelTokenizer,
  completion: Int32Array,
  end: number,
  names: readonly string[],
): AnswerText {
  const tokens = end === -1 ? completion : completion.subarray(0, end)
  const special = new Map(names.map((name) => [tokenizer.special.get(name), name]))
  const plain = tokenizer.decode(tokens)
  const [mark = ''] = unusedCharacters(plain.replace(/[\uFDD0-\uFDEF]/g, ''), 1)
  let text = ''
  let from = 0
  for (const [at, token] of tokens.entries()) {
    const name = special.get(token)
    if (name === undefined) continue
    text += `${textOf(tokenizer, tokens.subarray(from, at), mark)}${mark}${name}${mark}`
    from = at + 1
  }
  return { text: text + textOf(tokenizer, tokens.subarray(from), mark), token: (name) => `${mark}${name}${mark}` }
}

/** A call whose arguments are the JSON object of a text; undefined where they are none. */
export function callOf(name: string, json: string, id?: string): ToolCall | undefined {
  try {
    const args: unknown = JSON.parse(json)
    if (name === '' || !isMapping(args)) return undefined
    const call = { type: 'function' as const, function: { name, arguments: { ...args } } }
    return id === undefined ? call : { ...call, id }
  } catch {
    return undefined
  }
}

// A model may write the mark as well: it is a character without meaning, and goes.
function textOf(tokenizer: ModelTokenizer, tokens: Int32Array, mark: string): string {
  return tokens.length === 0 ? '' : tokenizer.decode(tokens).replaceAll(mark, '\uFFFD')
}

// Values as templates write them: by Python's json, with a space after commas and colons, and by str().
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${pythonJson(item)}`)
      .join(', ')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** As Python's str(), for values that come from JSON. */
export function pythonString(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null || value === undefined) return 'None'
  return typeof value === 'object' ? pythonJson(value) : String(value)
}

/** The call that a result answers, by its place among the results after the last answer, and that place. */
export function answeredCall({ at, messages }: Place) {
  const before = messages.slice(0, at)
  const nth = at - 1 - before.findLastIndex(({ role }) => role !== 'tool')
  const asked = before.findLast(({ role }) => role === 'assistant')?.calls ?? []
  return { asked, nth, call: asked[nth] }
}

/** Arguments of a call as JSON text; text that is no JSON object stays as it is. */
export function argumentText(args: unknown): string {
  return typeof args === 'string' ? args : pythonJson(args)
}
