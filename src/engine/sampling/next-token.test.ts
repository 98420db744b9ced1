import fc from 'fast-check'
import { expect, it } from 'vitest'
import { drawToken, greedyToken, nextToken, sampleToken } from './next-token.ts'

it('draws the same token from the whole distribution and on the way to it, to the last bit (ENG-9)', () => {
  const logits = fc.array(fc.double({ min: -30, max: 5, noNaN: true }), { minLength: 1, maxLength: 40 })
  const shaping = fc.record(
    {
      temperature: fc.constantFrom(1, 0.5, 2),
      topK: fc.constantFrom(-1, 0, 3, 100),
      topP: fc.constantFrom(1, 0.7),
    },
    { requiredKeys: ['temperature'] },
  )
  fc.assert(
    fc.property(logits, shaping, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (values, shape, u) => {
      const largest = Math.max(...values)
      const normalizer = largest + Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0))
      const logprobs = Float64Array.from(values, (value) => value - normalizer)
      expect(sampleToken(logprobs, shape, u)).toEqual(drawToken(nextToken(logprobs, shape), u))
      expect(sampleToken(logprobs, { ...shape, temperature: 0 }, u)).toEqual(greedyToken(logprobs))
    }),
  )
})
