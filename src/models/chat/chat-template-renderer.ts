// A model's own chat template as a renderer: the tokens are those of the template's text, with the message of each.
import type { ChatMessage, OpenRenderer } from '../../contracts/index.ts'
import { defineRenderer, EvsysError } from '../../kernel/index.ts'
import { isModelTokenizer, type ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import { contentText } from './guard-messages.ts'
import { type AnswerForm, parseAnswer } from './parse-answer.ts'
import { type Span, TemplateReader, type TemplateText } from './template-text.ts'
import { encodeGuardedText, tokensWithSpans } from './token-spans.ts'

export interface ChatTemplateOptions {
  readonly tokenizer: ModelTokenizer
  /** The text of the template. */
  readonly template: string
  /** More variables for the template: `enable_thinking`, `date_string`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined
}

/** Opens a chat template. One whose answers cannot be distinguished from the rest is refused. */
export async function openChatTemplate({
  tokenizer,
  template,
  variables = {},
}: ChatTemplateOptions): Promise<OpenRenderer> {
  const { compileTemplate } = await import('./compile-template.ts') // with its library, only where it is used
  const reader = new TemplateReader(compileTemplate(template), template, tokenizer, {
    bos_token: nameOf(tokenizer, tokenizer.bos),
    eos_token: nameOf(tokenizer, tokenizer.eos),
    pad_token: nameOf(tokenizer, tokenizer.pad),
    ...variables,
  })
  const ends = findEnds(reader)
  const stop = [
    ...new Set([...[...ends].map((name) => tokenizer.special.get(name)), tokenizer.eos].flatMap((each) => each ?? [])),
  ]
  const form = answerForm(reader, template)
  return {
    stop,
    extendsHistory: extendsHistory(reader),
    conversation(messages) {
      const whole = reader.read(messages)
      const spans = findSpans(reader, messages, whole, ends)
      return tokensWithSpans(tokenizer, whole, spans, (index) => messages[index]?.role === 'assistant')
    },
    takesTools: /\btools\b/.test(template),
    prompt: (messages, tools = []) => encodeGuardedText(tokenizer, reader.read(messages, { answer: true, tools })),
    parse(completion) {
      const at = completion.findIndex((token) => stop.includes(token))
      const answer = at === -1 ? completion : completion.subarray(0, at)
      const { message, closed } = parseAnswer(tokenizer.decode(answer), form)
      return { message, complete: at !== -1 && closed }
    },
  }
}

// An answer goes from the end of its prompt to the token that ends it. Other messages are their content, and the token that
// ends them where it follows directly.
function findSpans(
  reader: TemplateReader,
  messages: readonly ChatMessage[],
  whole: TemplateText,
  ends: ReadonlySet<string>,
): (Span | undefined)[] {
  const contents = reader.contents(messages, whole)
  const spans = messages.map((message, index): Span | undefined => {
    const content = contents[index]
    if (message.role === 'assistant') {
      const start = reader.answerStart(messages, index, whole) ?? content?.start
      const end = whole.special.find((special) => special.start >= (start ?? 0) && ends.has(special.name))?.end
      if (start === undefined || end === undefined) throw unsplittable(index, 'the answer')
      return { start, end }
    }
    if (content === undefined) {
      if (contentText(message.content).trim() === '') return undefined
      throw unsplittable(index, 'the content')
    }
    const next = whole.special.find(({ start }) => start >= content.end)
    const follows = next !== undefined && ends.has(next.name) && whole.text.slice(content.end, next.start).trim() === ''
    return follows ? { start: content.start, end: next.end } : content
  })
  checkOrder(spans)
  return spans
}

function checkOrder(spans: readonly (Span | undefined)[]): void {
  let end = 0
  for (const [index, span] of spans.entries()) {
    if (span === undefined) continue
    if (span.start < end) throw unsplittable(index, 'its beginning')
    end = span.end
  }
}

// The first special token after an answer ends it; the last answer of a conversation may end in another way than others.
function findEnds(reader: TemplateReader): Set<string> {
  const user: ChatMessage = { role: 'user', content: 'question' }
  const words = ['kumquat', 'tamarind']
  const answers = words.map((content): ChatMessage => ({ role: 'assistant', content }))
  const { text, special } = reader.read(answers.flatMap((answer) => [user, answer]))
  const ends = words.map((word) => {
    const at = text.lastIndexOf(word)
    return at === -1 ? undefined : special.find(({ start }) => start >= at)?.name
  })
  const known = ends.filter((name) => name !== undefined)
  if (known.length === words.length) return new Set(known)
  throw new EvsysError('MODEL_INVALID', 'the model’s chat template ends answers with no special token', {
    fix: 'choose a renderer with its own end of an answer.',
  })
}

// Whether an answer that was produced with reasoning stands in later prompts as it was produced.
function extendsHistory(reader: TemplateReader): boolean {
  const user: ChatMessage = { role: 'user', content: 'question' }
  const answered: ChatMessage[] = [user, { role: 'assistant', content: 'kumquat', reasoning_content: 'tamarind' }]
  return reader.read([...answered, user]).text.startsWith(reader.read(answered).text.trimEnd())
}

function answerForm(reader: TemplateReader, template: string): AnswerForm {
  const { text } = reader.read([{ role: 'user', content: 'question' }], { answer: true })
  return {
    thinks: template.includes('</think>'),
    opensThinking: /<think>\s*$/.test(text),
    calls: template.includes('<tool_call>'),
  }
}

function nameOf(tokenizer: ModelTokenizer, token: number | undefined): string | undefined {
  return token === undefined ? undefined : tokenizer.piece(token)
}

function unsplittable(index: number, what: string): EvsysError {
  const message = `the model’s chat template does not show ${what} of message ${index} as it is`
  return new EvsysError('MODEL_INVALID', message, {
    fix: 'choose a renderer made for this model: its tokens cannot be given to messages for certain.',
  })
}

/** Conversations in the model's own form: the template that its folder holds. */
export const chatTemplate = defineRenderer({
  kind: 'chat_template',
  summary: 'The model’s own chat template.',
  async open({ tokenizer, chatTemplate: template }) {
    if (template === undefined || !isModelTokenizer(tokenizer)) {
      throw new EvsysError('PLUGIN_FAILED', 'chat_template: the model has no chat template', {
        fix: 'name a renderer with renderer_name, or use a model that was trained on conversations.',
      })
    }
    return openChatTemplate({ tokenizer, template })
  },
})
