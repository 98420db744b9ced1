// Tokens to text while they arrive. A token may end inside a character, so text is held back until it can no longer change;
// all parts together are what `decode` gives for all tokens.
import type { Tokenizer } from '../../contracts/index.ts'

/** Text that grows token by token. */
export interface TextStream {
  /** The text that is certain now and was not before; often one word, sometimes nothing. */
  push(...tokens: readonly number[]): string
  /** What was held back: half a character, written as U+FFFD. */
  end(): string
}

// A character has at most four bytes: what is still open lies within the last three tokens. The rest of the window is there
// because decoders look at the token before (leading spaces, runs of bytes).
const keptTokens = 8
const windowTokens = 32

/** Starts a text. Its cost per token does not grow with its length. */
export function createTextStream(tokenizer: Pick<Tokenizer, 'decode'>): TextStream {
  let window: number[] = []
  let told = 0
  const take = (text: string) => {
    const fresh = text.slice(told)
    told = Math.max(told, text.length)
    return fresh
  }
  const push = (token: number) => {
    const decode = () => tokenizer.decode(Int32Array.from(window))
    window.push(token)
    const fresh = take(certain(decode()))
    if (window.length >= windowTokens) {
      window = window.slice(-keptTokens)
      told = certain(decode()).length
    }
    return fresh
  }
  return {
    push: (...tokens) => tokens.map(push).join(''),
    end: () => take(tokenizer.decode(Int32Array.from(window))),
  }
}

// An open character decodes to one U+FFFD at the end. So may bytes that are no character at all: those wait as well.
function certain(text: string): string {
  return text.endsWith('\uFFFD') ? text.slice(0, -1) : text
}
