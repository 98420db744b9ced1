import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import reference from './fixtures/special-functions.json' with { type: 'json' }
import { logGamma, stirlingError } from './log-gamma.ts'

describe('logGamma', () => {
  it.each(reference.logGamma)('of %d agrees with 40 digits (STA-1)', (x = 0, expected = 0) => {
    expect(Math.abs(logGamma(x) - expected)).toBeLessThan(1e-13 * Math.max(0.1, Math.abs(expected)))
  })

  it('is the logarithm of factorials (STA-1)', () => {
    let factorial = 1
    for (let n = 1; n <= 20; n++) {
      factorial *= n
      expect(logGamma(n + 1)).toBeCloseTo(Math.log(factorial), 12)
    }
  })

  it('obeys gamma(x + 1) = x gamma(x) (STA-1)', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (x) => {
        const [next, here] = [logGamma(x + 1), logGamma(x) + Math.log(x)]
        expect(Math.abs(next - here)).toBeLessThan(1e-13 * Math.max(1, Math.abs(here), Math.abs(Math.log(x))))
      }),
    )
  })

  it('leaves over what Stirling’s formula misses, on both sides of its switch (STA-1)', () => {
    expect(stirlingError(9.999999)).toBeCloseTo(stirlingError(10.000001), 8)
    expect(stirlingError(1)).toBeCloseTo(1 - 0.9189385332046728, 14)
  })

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d', (x) => {
    expect(() => logGamma(x)).toThrow(RangeError)
  })
})
