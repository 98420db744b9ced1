// What a template makes of a conversation, read back: the text, where its special tokens are, and where each message is. No
// template says where it puts a message, so this is found by rendering again: with a mark inside each content, and up to each
// answer. Whatever cannot be found for certain is an error.
import type { ChatMessage, ToolSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { anyOf, type ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import type { Template } from './compile-template.ts'
import {
  createGuard,
  type TemplateMessage,
  templateMessages,
  templateTools,
  unusedCharacters,
} from './guard-messages.ts'

/** A part of a text, by index. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** A rendered conversation. */
export interface TemplateText {
  /** As the template wrote it, with guards. */
  readonly guarded: string
  readonly guard: string
  /** The same without guards. */
  readonly text: string
  /** The special tokens that the template wrote, in order. */
  readonly special: readonly (Span & { readonly name: string })[]
}

/** Renders conversations with one template. */
export class TemplateReader {
  readonly #render: Template
  readonly #source: string
  readonly #tokenizer: ModelTokenizer
  readonly #variables: Readonly<Record<string, unknown>>
  readonly #anySpecial: RegExp

  constructor(
    render: Template,
    source: string,
    tokenizer: ModelTokenizer,
    variables: Readonly<Record<string, unknown>>,
  ) {
    this.#render = render
    this.#source = source
    this.#tokenizer = tokenizer
    this.#variables = variables
    this.#anySpecial = anyOf([...tokenizer.special.keys()])
  }

  /** The text of a conversation; with `answer`, up to where an answer begins. */
  read(
    messages: readonly ChatMessage[],
    { answer = false, tools = [] }: { answer?: boolean | undefined; tools?: readonly ToolSpec[] | undefined } = {},
  ): TemplateText {
    const { guard, put, prepared } = this.#prepare(messages, tools)
    return this.#readPrepared(prepared, guard, answer, templateTools(tools, put))
  }

  /** Where the content of each message stands, but for those without any. `undefined`: it was not written as it is. */
  contents(messages: readonly ChatMessage[], whole: TemplateText): (Span | undefined)[] {
    const { guard, mark, prepared } = this.#prepare(messages)
    for (const share of [0.5, 0.25, 0.75, 1]) {
      const marks = prepared.map(({ content }) => placeMark(content, share, guard))
      const marked = prepared.map((message, at) => ({
        ...message,
        content: withMark(message.content, mark, marks[at]),
      }))
      const output = this.#tryReadPrepared(marked, guard)?.text
      const found = output?.replaceAll(mark, '') === whole.text ? locate(output, mark, marks) : undefined
      if (found !== undefined) return found
    }
    return messages.map(() => undefined)
  }

  /** Where an answer at the place `index` begins in the whole text; undefined if its prompt is no beginning of it. */
  answerStart(messages: readonly ChatMessage[], index: number, whole: TemplateText): number | undefined {
    const { guard, prepared } = this.#prepare(messages)
    const prompt = this.#tryReadPrepared(prepared.slice(0, index), guard, true)?.text
    return prompt !== undefined && prompt !== '' && whole.text.startsWith(prompt) ? prompt.length : undefined
  }

  #prepare(messages: readonly ChatMessage[], tools: readonly ToolSpec[] = []) {
    const form = this.#tokenizer.normalForm
    const plain = templateMessages(messages, (text) => (form === undefined ? text : text.normalize(form)))
    const [guard = '', mark = ''] = unusedCharacters(this.#source + JSON.stringify([plain, tools]), 2)
    const guarded = createGuard([...this.#tokenizer.special.keys()], guard)
    const put = (text: string) => guarded(form === undefined ? text : text.normalize(form))
    return { guard, mark, put, prepared: templateMessages(messages, put) }
  }

  #tryReadPrepared(messages: readonly TemplateMessage[], guard: string, answer = false): TemplateText | undefined {
    try {
      return this.#readPrepared(messages, guard, answer)
    } catch (cause) {
      if (EvsysError.is(cause)) return undefined // a template may refuse a part of a conversation, or one that begins otherwise
      throw cause
    }
  }

  #readPrepared(
    messages: readonly TemplateMessage[],
    guard: string,
    answer: boolean,
    tools: readonly unknown[] = [],
  ): TemplateText {
    const declared = tools.length === 0 ? {} : { tools }
    const guarded = this.#render({ ...this.#variables, ...declared, messages, add_generation_prompt: answer })
    const special: (Span & { name: string })[] = []
    let text = ''
    for (const part of guarded.split(this.#anySpecial)) {
      const plain = this.#tokenizer.special.has(part) ? part : part.replaceAll(guard, '')
      if (this.#tokenizer.special.has(part))
        special.push({ name: part, start: text.length, end: text.length + part.length })
      text += plain
    }
    return { guarded, guard, text, special }
  }
}

// A mark in a content: where it is put, and what of the content stands before it once guards and outer space are gone.
type Mark = { at: number; before: number; core: string }

// Inside the content, where a mark neither keeps a template from trimming it nor from seeing tags in it.
function placeMark(content: string, share: number, guard: string): Mark | undefined {
  const start = content.length - content.trimStart().length
  const inner = content.trim()
  const core = inner.replaceAll(guard, '').trim()
  if (core === '') return undefined
  let at = Math.max(1, Math.floor(inner.length * share))
  while (at < inner.length && /[<>|/\uD800-\uDFFF]/.test(inner.slice(at - 1, at + 1))) at++
  return { at: start + at, before: inner.slice(0, at).replaceAll(guard, '').trimStart().length, core }
}

function withMark(content: string, mark: string, place: Mark | undefined): string {
  return place === undefined ? content : content.slice(0, place.at) + mark + content.slice(place.at)
}

function locate(output: string, mark: string, marks: readonly (Mark | undefined)[]): (Span | undefined)[] | undefined {
  const text = output.replaceAll(mark, '')
  const places: number[] = []
  for (let at = output.indexOf(mark); at !== -1; at = output.indexOf(mark, at + 1)) places.push(at - places.length)
  if (places.length !== marks.filter((each) => each !== undefined).length) return undefined
  return marks.map((each) => {
    if (each === undefined) return undefined
    const start = (places.shift() ?? 0) - each.before
    return text.startsWith(each.core, start) ? { start, end: start + each.core.length } : undefined
  })
}
