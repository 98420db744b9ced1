import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import reference from './fixtures/special-functions.json' with { type: 'json' }
import { betaLogit, incompleteBeta, inverseIncompleteBeta, logGamma, stirlingError } from './incomplete-beta.ts'

const shape = fc.double({ min: 0.05, max: 500, noNaN: true })
const fraction = fc.double({ min: 0.001, max: 0.999, noNaN: true })

describe('incompleteBeta', () => {
  it.each(reference.incompleteBeta)('I(%d, %d) at %d agrees with 40 digits (STA-1)', (a = 0, b = 0, x = 0, y = 0) => {
    expect(Math.abs(incompleteBeta(a, b, x) / y - 1)).toBeLessThan(1e-12)
  })

  it('mirrors: I_x(a, b) = 1 - I_(1-x)(b, a), and rises with x (STA-1)', () => {
    fc.assert(
      fc.property(shape, shape, fraction, fraction, (a, b, x, other) => {
        expect(incompleteBeta(a, b, x)).toBeCloseTo(1 - incompleteBeta(b, a, 1 - x), 11)
        const [low, high] = [Math.min(x, other), Math.max(x, other)]
        expect(incompleteBeta(a, b, low)).toBeLessThanOrEqual(incompleteBeta(a, b, high) + 1e-13)
      }),
    )
  })

  it('is 0 and 1 at the ends (STA-1)', () => {
    expect([incompleteBeta(2, 3, 0), incompleteBeta(2, 3, 1)]).toEqual([0, 1])
  })

  it('comes back from its inverse (STA-1)', () => {
    fc.assert(
      fc.property(shape, shape, fraction, (a, b, p) => {
        // Of x near 1 only the logit still knows 1 - x.
        const logit = betaLogit(a, b, p)
        expect(incompleteBeta(a, b, 1 / (1 + Math.exp(-logit)), 1 / (1 + Math.exp(logit)))).toBeCloseTo(p, 11)
        expect(inverseIncompleteBeta(a, b, p)).toBe(1 / (1 + Math.exp(-logit)))
      }),
    )
    expect([inverseIncompleteBeta(2, 3, 0), inverseIncompleteBeta(2, 3, 1)]).toEqual([0, 1])
    expect([betaLogit(2, 3, 0), betaLogit(2, 3, 1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
  })

  it('has closed forms: I_x(a, 1) = x^a (STA-1)', () => {
    expect(inverseIncompleteBeta(3, 1, 1e-12)).toBeCloseTo(1e-4, 16)
    expect(incompleteBeta(3, 1, 0.2)).toBeCloseTo(0.008, 15)
  })

  it.each([
    [0, 1, 0.5],
    [1, -1, 0.5],
    [1, 1, 1.5],
    [1, 1, Number.NaN],
  ])('refuses a = %d, b = %d, x = %d', (a, b, x) => {
    expect(() => incompleteBeta(a, b, x)).toThrow(RangeError)
    expect(() => inverseIncompleteBeta(a, b, x)).toThrow(RangeError)
  })
})

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
