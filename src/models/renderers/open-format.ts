// A chat format as a renderer: writes a conversation, makes tokens of all of it, and knows whose each token is because it wrote it.
import type { ChatMessage, OpenRenderer, ToolSpec } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { createGuard, unusedCharacters } from '../chat/guard-messages.ts'
import type { Span } from '../chat/template-text.ts'
import { encodeGuardedText, type GuardedText, tokensWithSpans } from '../chat/token-spans.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import { type ChatFormat, type FormatMessage, formatMessages, type Part, readAnswer } from './chat-format.ts'

/** Opens a format for a model. A tokenizer without the format's special tokens is refused. */
export function openFormat(kind: string, format: ChatFormat, tokenizer: ModelTokenizer): OpenRenderer {
  const missing = format.tokens.filter((name) => !tokenizer.special.has(name))
  if (missing.length > 0) {
    throw new EvsysError('MODEL_INVALID', `${kind}: the model’s tokenizer has no special token ${missing.join(', ')}`, {
      fix: 'choose the renderer of the model’s own family, or chat_template.',
    })
  }
  const ends = format.ends.flatMap((name) => tokenizer.special.get(name) ?? [])
  const bos = tokenizer.bos === undefined ? undefined : tokenizer.piece(tokenizer.bos)
  const begin = format.begin?.(bos) ?? ''

  const prepare = (messages: readonly ChatMessage[], tools: readonly ToolSpec[] = []): readonly FormatMessage[] => {
    const own = formatMessages(messages, tokenizer.normalForm)
    const made = tools.length === 0 ? own : declared(kind, format, own, tools)
    return format.prepare?.(made) ?? made
  }
  const write = (messages: readonly FormatMessage[], suffix = ''): Written => {
    const parts: Part[] = [begin]
    const spans: (Span | undefined)[] = []
    let length = begin.length
    for (const [at, message] of messages.entries()) {
      const { header, body } = format.turn(message, { at, messages, isLast: at === messages.length - 1 })
      const turn = [...header, ...body]
      const headerLength = lengthOf(header)
      if (message.index >= 0) {
        const start =
          length + (message.role === 'assistant' ? answerStart(format, messages, at, turn, headerLength) : headerLength)
        spans[message.index] = { start, end: length + lengthOf(turn) }
      }
      parts.push(...turn)
      length += lengthOf(turn)
    }
    return { ...guardParts([...parts, suffix], tokenizer), spans }
  }
  return {
    stop: format.stopTexts ?? ends,
    extendsHistory: format.extendsHistory,
    conversation(messages) {
      const made = prepare(messages)
      const last = made.at(-1)
      if (format.refusesReasoning === true && last?.role === 'assistant' && (last.reasoning ?? '').trim() !== '') {
        throw new EvsysError(
          'DATA_INVALID',
          `${kind}: the answer holds reasoning, and this renderer turns reasoning off`,
          {
            fix: 'drop it with the transform drop_reasoning, or choose the renderer with reasoning.',
          },
        )
      }
      const written = write(made)
      return tokensWithSpans(tokenizer, written, written.spans, (index) => messages[index]?.role === 'assistant')
    },
    takesTools: format.declare !== undefined,
    prompt(messages, tools) {
      const made = prepare(messages, tools)
      return encodeGuardedText(tokenizer, write(made, format.prompt(made)))
    },
    parse(completion) {
      const at = completion.findIndex((token) => ends.includes(token) || (ends.length === 0 && token === tokenizer.eos))
      const answer = readAnswer(tokenizer, completion, at, format.tokens)
      return format.parse(answer, at !== -1)
    },
  }
}

function declared(
  kind: string,
  format: ChatFormat,
  messages: readonly FormatMessage[],
  tools: readonly ToolSpec[],
): readonly FormatMessage[] {
  if (format.declare !== undefined) return format.declare(messages, tools)
  throw new EvsysError('DATA_INVALID', `${kind}: tools cannot be declared with this renderer`, {
    fix: 'choose another renderer, or describe the tools in the system message.',
  })
}

type Written = GuardedText & { readonly spans: readonly (Span | undefined)[] }

// An answer begins where its prompt ends; if it is not written as a continuation of the prompt, behind its header.
function answerStart(
  format: ChatFormat,
  messages: readonly FormatMessage[],
  at: number,
  turn: readonly Part[],
  headerLength: number,
): number {
  const prompt = format.prompt(messages.slice(0, at))
  return textOf(turn).startsWith(prompt) ? Math.max(prompt.length, headerLength) : headerLength
}

function guardParts(parts: readonly Part[], tokenizer: ModelTokenizer): GuardedText {
  const text = textOf(parts)
  const [guard = ''] = unusedCharacters(text, 1)
  const put = createGuard([...tokenizer.special.keys()], guard)
  const guarded = parts.map((part) => (typeof part === 'string' ? part : put(part.content))).join('')
  return { guarded, guard, text }
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (typeof part === 'string' ? part : part.content)).join('')
}

function lengthOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (typeof part === 'string' ? part : part.content).length, 0)
}
