import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { policyDatum, supervisedSequence } from './datums.ts'

const anySequence = fc
  .array(
    fc.record({ token: fc.nat(50), trained: fc.boolean(), logprob: fc.double({ min: -9, max: 0, noNaN: true }) }),
    {
      minLength: 1,
      maxLength: 20,
    },
  )
  .map((list) => ({
    tokens: Int32Array.from(list, ({ token }) => token),
    mask: Uint8Array.from(list, ({ trained }) => Number(trained)),
    logprobs: Float64Array.from(list, ({ trained, logprob }) => (trained ? logprob : 0)),
    spans: [],
  }))

describe('a sequence as an example', () => {
  it('predicts each token from those before it, with the advantage where it is trained on (HAR-66)', () => {
    fc.assert(
      fc.property(anySequence, fc.double({ min: -5, max: 5, noNaN: true }), (sequence, advantage) => {
        const datum = policyDatum(sequence, advantage)
        if (datum === undefined) {
          expect(sequence.mask.subarray(1).includes(1)).toBe(false)
          return
        }
        const { target_tokens, logprobs, advantages } = datum.lossInputs
        expect([...datum.tokens, target_tokens?.data.at(-1)]).toEqual([...sequence.tokens])
        expect(target_tokens?.data).toEqual(sequence.tokens.slice(1))
        expect(logprobs?.data).toEqual(sequence.logprobs.slice(1))
        expect([...(advantages?.data ?? [])]).toEqual(
          [...sequence.mask.slice(1)].map((trained) => (trained === 1 ? advantage : 0)),
        )
        expect(Object.values(datum.lossInputs).every(({ shape }) => shape[0] === datum.tokens.length)).toBe(true)
      }),
    )
  })

  it('takes an advantage for each token, and weights for supervised losses (HAR-78)', () => {
    const sequence = {
      tokens: Int32Array.of(7, 8, 9),
      mask: Uint8Array.of(0, 0, 1),
      logprobs: Float64Array.of(0, 0, -1),
      spans: [],
    }
    expect(policyDatum(sequence, Float64Array.of(1, 2, 3))?.lossInputs.advantages?.data).toEqual(Float64Array.of(0, 3))
    expect(supervisedSequence(sequence, 0.5)?.lossInputs.weights?.data).toEqual(Float64Array.of(0, 0.5))
    expect(() => policyDatum(sequence, Float64Array.of(1))).toThrow('1 advantages for 3 tokens')
  })
})
