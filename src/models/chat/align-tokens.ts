// Where tokens stand in the text that they were made of. Tokenizers may put a space before a text, or drop spaces beside some
// special tokens; apart from that the bytes of the tokens are the bytes of the text.
import type { ModelTokenizer } from '../tokenizer/open-tokenizer.ts'

/** For each token, the byte at which it begins; undefined when tokens and text do not agree. */
export function alignTokens(
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
