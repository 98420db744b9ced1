import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fQuantile } from './f-quantile.ts'
import reference from './fixtures/special-functions.json' with { type: 'json' }
import { tCdf, tMultiplier, tQuantile, tTail } from './student-t.ts'

describe('Student’s t', () => {
  it.each(reference.tTail)(
    'P(T >= %d) with %d degrees of freedom agrees with 40 digits (STA-1)',
    (t = 0, df = 0, p = 0) => {
      // At a million degrees of freedom df / (df + t^2) itself rounds at 1e-16, which is worth 1e-11 of the tail.
      expect(Math.abs(tTail(t, df) / p - 1)).toBeLessThan(df > 1e5 ? 2e-11 : 1e-12)
    },
  )

  it.each(reference.tQuantile)(
    'the quantile of %d with %d degrees of freedom agrees (STA-1)',
    (p = 0, df = 0, t = 0) => {
      expect(Math.abs(tQuantile(p, df) / t - 1)).toBeLessThan(1e-12)
    },
  )

  // Fisher and Yates, Statistical Tables (1938), table III; Student (1908).
  it.each([
    [0.9, 1, 6.314],
    [0.9, 2, 2.92],
    [0.9, 4, 2.132],
    [0.9, 7, 1.895],
    [0.95, 10, 2.228],
    [0.99, 30, 2.75],
  ])('a %d interval with %d degrees of freedom reaches %d standard errors (STA-1)', (confidence, df, printed) => {
    expect(tMultiplier(confidence, df)).toBeCloseTo(printed, 3)
  })

  it('quantile and probability are inverse (STA-1)', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true }),
        fc.double({ min: 0.5, max: 1e4, noNaN: true }),
        (p, df) => {
          expect(Math.abs(tCdf(tQuantile(p, df), df) / p - 1)).toBeLessThan(1e-10)
        },
      ),
    )
    expect(tQuantile(0.5, 3)).toBe(0)
    expect(tCdf(Number.NEGATIVE_INFINITY, 3)).toBe(0)
    expect(tCdf(-1, 2) + tCdf(1, 2)).toBeCloseTo(1, 15)
  })

  it.each([
    [0.5, 0],
    [-0.1, 3],
    [Number.NaN, 3],
  ])('refuses the quantile of %d with %d degrees of freedom', (p, df) => {
    expect(() => tQuantile(p, df)).toThrow(RangeError)
  })

  it('refuses NaN', () => {
    expect(() => tTail(Number.NaN, 3)).toThrow(RangeError)
  })
})

describe('F', () => {
  // Pearson and Hartley, Biometrika Tables for Statisticians (1954), table 18.
  it.each([
    [0.95, 1, 1, 161.45],
    [0.95, 5, 10, 3.33],
    [0.95, 2, 98, 3.09],
    [0.99, 3, 12, 5.95],
  ])('has the quantile of %d with %d and %d degrees of freedom (STA-1)', (p, df1, df2, printed) => {
    expect(Math.abs(fQuantile(p, df1, df2) - printed)).toBeLessThan(0.006)
  })

  it('of 1 and n degrees of freedom is the square of t (STA-1)', () => {
    expect(fQuantile(0.9, 1, 7)).toBeCloseTo(tQuantile(0.95, 7) ** 2, 11)
    expect(fQuantile(0.05, 2, 40)).toBeCloseTo(1 / fQuantile(0.95, 40, 2), 12)
  })
})
