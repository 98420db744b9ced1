import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byteTokenizer, specialTokens } from '../models/mock-models.ts'

const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...Object.keys(specialTokens)), fc.string({ unit: 'grapheme', maxLength: 2 })),
})

describe('byteTokenizer', () => {
  it('gives back every text, with special tokens or without (PLG-15)', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (original, special) => {
        expect(byteTokenizer.decode(byteTokenizer.encode(original, { special }))).toBe(original)
      }),
    )
  })

  it('makes no special token unless asked (PLG-15)', () => {
    fc.assert(fc.property(text, (original) => byteTokenizer.encode(original).every((token) => token < 256)))
    expect([...byteTokenizer.encode('a<|end|>', { special: true })]).toEqual([97, specialTokens['<|end|>']])
    expect(byteTokenizer.encode('<|end|>')).toHaveLength(7)
  })

  it('decodes any tokens of the vocabulary and refuses others (PLG-15)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(byteTokenizer.vocabSize - 1)), (tokens) => {
        expect(typeof byteTokenizer.decode(Int32Array.from(tokens))).toBe('string')
      }),
    )
    for (const token of [-1, byteTokenizer.vocabSize])
      expect(() => byteTokenizer.decode(Int32Array.from([token]))).toThrow(RangeError)
  })
})
