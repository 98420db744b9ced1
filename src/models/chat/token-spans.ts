// The tokens of a written conversation, given to the messages whose text they are.
import type { Rendered } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'
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

// Where tokens stand in the text that they were made of. Tokenizers may put a space before a text, or drop spaces beside some
// special tokens; apart from that the bytes of the tokens are the bytes of the text.
/** For each token, the byte at which it begins; undefined when tokens and text do not agree. */
function alignTokens(
  tokens: Int32Array,
  text: string,
  tokenizer: Pick<ModelTokenizer, 'bytes'>,
): Int32Array | undefined {
  const bytes = Buffer.from(text)
  const starts = new Int32Array(tokens.length)
  let at = 0
  for (const [index, token] of tokens.entries()) {
    const own = tokenizer.bytes(token)
    if (own === undefined) return undefined
    let next = endOf(bytes, at, own)
    if (next === undefined) {
      at = skipSpace(bytes, at)
      next = endOf(bytes, at, own)
    }
    if (next === undefined) return undefined
    starts[index] = at
    at = next
  }
  return skipSpace(bytes, at) === bytes.length ? starts : undefined
}

function endOf(bytes: Buffer, at: number, own: Uint8Array): number | undefined {
  if (matches(bytes, at, own)) return at + own.length
  const rest = own.subarray(1)
  return own[0] === 0x20 && matches(bytes, at, rest) ? at + rest.length : undefined
}

function matches(bytes: Buffer, at: number, own: Uint8Array): boolean {
  return at + own.length <= bytes.length && bytes.compare(own, 0, own.length, at, at + own.length) === 0
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && (bytes[at] === 0x20 || ((bytes[at] ?? 0) >= 9 && (bytes[at] ?? 0) <= 13))) at++
  return at
}
