import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { likeliestTokens } from './prompt-scores.ts'

describe('likeliestTokens', () => {
  it('is the beginning of all tokens in order, equals by their number (ENG-9)', () => {
    const value = fc.oneof(fc.integer({ min: -3, max: 0 }), fc.double({ max: 0, noNaN: true }))
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), fc.integer({ min: 0, max: 50 }), (values, count) => {
        const logprobs = Float64Array.from(values)
        const ordered = [...logprobs.keys()].sort((a, b) => {
          const [first = 0, second = 0] = [logprobs[a], logprobs[b]]
          return first === second ? a - b : second - first
        })
        expect([...likeliestTokens(logprobs, count)]).toEqual(ordered.slice(0, count))
      }),
    )
  })
})
