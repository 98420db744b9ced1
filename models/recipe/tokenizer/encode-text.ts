// Encodes large texts fast: each different word goes through the merges once. The ids are those of the tokenizer's file.
import { readFileSync } from 'node:fs'
import { byteCharacters } from '../../../src/models/tokenizer/token-bytes.ts'
import { wordPattern } from './tokenizer-file.ts'

/** Text to tokens, for a tokenizer that `make-tokenizers.ts` wrote. Special tokens in the text are not looked for. */
export function createEncoder(path: string): { encode: (text: string) => number[]; vocabSize: number; end: number } {
  const { model, added_tokens } = JSON.parse(readFileSync(path, 'utf8'))
  const ids = new Map<string, number>(Object.entries(model.vocab))
  const ranks = new Map<string, number>(
    model.merges.map(([left, right]: [string, string], rank: number) => [`${left} ${right}`, rank]),
  )
  const bytes = byteCharacters()
  const known = new Map<string, number[]>()
  const encodeWord = (word: string) => {
    const symbols = Array.from(Buffer.from(word, 'utf8'), (byte) => bytes[byte] ?? '')
    for (;;) {
      let best = -1
      let bestRank = Number.POSITIVE_INFINITY
      for (let at = 0; at + 1 < symbols.length; at++) {
        const rank = ranks.get(`${symbols[at]} ${symbols[at + 1]}`)
        if (rank !== undefined && rank < bestRank) {
          best = at
          bestRank = rank
        }
      }
      if (best === -1) return symbols.map((symbol) => ids.get(symbol) ?? 0)
      symbols.splice(best, 2, `${symbols[best]}${symbols[best + 1]}`)
    }
  }
  return {
    vocabSize: ids.size + added_tokens.length,
    end: added_tokens[0].id,
    encode(text) {
      const tokens: number[] = []
      for (const [word] of text.matchAll(wordPattern)) {
        let encoded = known.get(word)
        if (encoded === undefined) {
          encoded = encodeWord(word)
          known.set(word, encoded)
        }
        for (const token of encoded) tokens.push(token)
      }
      return tokens
    },
  }
}
