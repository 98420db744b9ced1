// The tokens of a written conversation, given to the messages whose text they are.
import type { Rendered } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
import { alignTokens } from './align-tokens.ts'
import type { Span, TemplateText } from './template-text.ts'

/** A text with guards, and without. */
export type GuardedText = Pick<TemplateText, 'guarded' | 'guard' | 'text'>

export function encodeGuardedText(tokenizer: ModelTokenizer, { guarded, guard }: GuardedText): Int32Array {
  return guarded.includes(guard)
    ? tokenizer.encodeGuarded(guarded, guard)
    : tokenizer.encode(guarded, { special: true })
}

/** Tokens with the message that each belongs to: `spans` has one for each message, in order, or none. */
export function tokensWithSpans(
  tokenizer: ModelTokenizer,
  whole: GuardedText,
  spans: readonly (Span | undefined)[],
  isAnswer: (index: number) => boolean,
): Rendered {
  const tokens = encodeGuardedText(tokenizer, whole)
  const starts = alignTokens(tokens, whole.text, tokenizer)
  if (starts === undefined) {
    throw new EvsysError('MODEL_INVALID', 'the tokenizer changes the text, so its tokens cannot be given to messages', {
      fix: 'choose a renderer made for this model.',
    })
  }
  const message = new Int32Array(tokens.length).fill(-1)
  const produced = new Uint8Array(tokens.length)
  const endOf = (at: number) => starts[at + 1] ?? Number.POSITIVE_INFINITY
  let from = 0
  for (const [index, span] of spans.entries()) {
    if (span === undefined) continue
    const start = Buffer.byteLength(whole.text.slice(0, span.start))
    const end = start + Buffer.byteLength(whole.text.slice(span.start, span.end))
    // A token across the boundary belongs to the content in it; but no answer begins with half a token.
    while (from < tokens.length && (starts[from] ?? 0) < start && (isAnswer(index) || endOf(from) <= start)) from++
    const first = from
    while (from < tokens.length && (starts[from] ?? 0) < end) from++
    message.fill(index, first, from)
    if (isAnswer(index)) produced.fill(1, first, from)
  }
  return { tokens, message, produced }
}
