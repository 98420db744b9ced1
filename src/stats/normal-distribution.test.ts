import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import reference from './fixtures/special-functions.json' with { type: 'json' }
import { erfc, normalCdf, normalLogCdf, normalQuantile } from './normal-distribution.ts'

describe('the normal distribution', () => {
  it.each(reference.erfc)('erfc(%d) agrees with 40 digits (STA-1)', (x = 0, expected = 0) => {
    expect(Math.abs(erfc(x) / expected - 1)).toBeLessThan(1e-13)
  })

  it.each(reference.normalLogCdf)(
    'the logarithm of its tail at %d agrees with 40 digits (STA-1)',
    (z = 0, expected = 0) => {
      expect(Math.abs(normalLogCdf(z) / expected - 1)).toBeLessThan(1e-13)
    },
  )

  it.each(reference.normalQuantile)('the quantile of %d agrees with 40 digits (STA-1)', (p = 0, expected = 0) => {
    expect(Math.abs(normalQuantile(p) - expected)).toBeLessThan(1e-13 * Math.max(1, Math.abs(expected)))
  })

  it('quantile and probability are inverse, and symmetric (STA-1)', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1 - 1e-12, noNaN: true }), (p) => {
        expect(Math.abs(normalCdf(normalQuantile(p)) / p - 1)).toBeLessThan(1e-12)
      }),
    )
    fc.assert(
      fc.property(fc.double({ min: -8, max: 8, noNaN: true }), (z) => {
        expect(normalCdf(z) + normalCdf(-z)).toBeCloseTo(1, 14)
      }),
    )
    expect([normalQuantile(0), normalQuantile(1)]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
  })

  it('stays finite where the probability is zero in doubles (STA-1)', () => {
    expect(normalLogCdf(-1e12)).toBeCloseTo(-5e23, -12)
    expect(normalCdf(-50)).toBe(0)
  })

  it.each([-0.1, 1.1, Number.NaN])('refuses the quantile of %d', (p) => {
    expect(() => normalQuantile(p)).toThrow(RangeError)
  })

  it('refuses NaN', () => {
    expect(() => erfc(Number.NaN)).toThrow(RangeError)
  })
})
