// Text as its UTF-8 bytes: every text has exactly one encoding, and none can spell a special token by accident.
import type { Tokenizer } from '../../contracts/index.ts'
import { mockVocabSize, type SpecialName, specialName, specialTokens } from './special-tokens.ts'

const specialText = new RegExp(`(${Object.keys(specialTokens).map(escaped).join('|')})`)

/** The tokenizer of mock models. */
export const byteTokenizer: Tokenizer = Object.freeze({
  vocabSize: mockVocabSize,
  encode(text: string, { special = false }: { special?: boolean } = {}): Int32Array {
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
