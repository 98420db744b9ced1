import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fQuantile } from './crossed-anova.ts'
import reference from './fixtures/special-functions.json' with { type: 'json' }
import { moments } from './moments.ts'
import { noncentralTTail, tCdf, tInterval, tMultiplier, tQuantile, tTail, welchTInterval } from './student-t.ts'

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

describe('noncentralTTail', () => {
  it.each(reference.noncentralTTail)(
    'at %d with df %d and delta %d agrees with 40 digits (STA-1)',
    (t = 0, df = 0, delta = 0, p = 0) => {
      expect(Math.abs(noncentralTTail(t, df, delta) - p)).toBeLessThan(1e-12)
    },
  )

  it('is Student’s t without an effect (STA-1)', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -20, max: 20, noNaN: true }),
        fc.double({ min: 1, max: 500, noNaN: true }),
        (t, df) => {
          expect(noncentralTTail(t, df, 0)).toBeCloseTo(tTail(t, df), 11)
        },
      ),
    )
  })

  it('rises with the effect (STA-1)', () => {
    fc.assert(
      fc.property(fc.double({ min: -5, max: 5, noNaN: true }), fc.integer({ min: 1, max: 50 }), (delta, df) => {
        expect(noncentralTTail(2, df, delta + 0.1)).toBeGreaterThan(noncentralTTail(2, df, delta) - 1e-12)
      }),
    )
  })

  it.each([
    [2, 3, 1e300, 1],
    [2, 3, -1e300, 0],
    [-1e12, 3, 0, 1],
    [636, 1, 1e4, 1],
  ])('is certain, not endless, at t = %d, df = %d, delta = %d (STA-1)', (t, df, delta, expected) => {
    expect(noncentralTTail(t, df, delta)).toBeCloseTo(expected, 9)
  })

  it('refuses what is no distribution', () => {
    expect(() => noncentralTTail(1, 0, 1)).toThrow(RangeError)
    expect(() => noncentralTTail(1, 3, Number.NaN)).toThrow(RangeError)
  })
})

// NIST Statistical Reference Datasets, univariate summary statistics, certified values.
// https://www.itl.nist.gov/div898/strd/univ/homepage.html
const alternating = (level: number) => [
  level + 0.2,
  ...Array.from({ length: 1000 }, (_, i) => level + (i % 2 === 0 ? 0.1 : 0.3)),
]
const michelson = [
  850, 740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000, 1000, 960, 960, 960, 940, 960,
  940, 880, 800, 850, 880, 900, 840, 830, 790, 810, 880, 880, 830, 800, 790, 760, 800, 880, 880, 880, 860, 720, 720,
  620, 860, 970, 950, 880, 910, 850, 870, 840, 840, 850, 840, 840, 840, 890, 810, 810, 820, 800, 770, 760, 740, 750,
  760, 910, 920, 890, 860, 880, 720, 840, 850, 850, 780, 890, 840, 780, 810, 760, 810, 790, 810, 820, 850, 870, 870,
  810, 740, 810, 940, 950, 800, 810, 870,
].map((speed) => 299 + speed / 1000)

describe('moments', () => {
  it.each([
    ['NumAcc1', [10000001, 10000003, 10000002], 10000002, 1, 1e-15],
    ['NumAcc2', alternating(1), 1.2, 0.1, 1e-13],
    ['NumAcc3', alternating(1000000), 1000000.2, 0.1, 1e-9],
    ['NumAcc4', alternating(10000000), 10000000.2, 0.1, 1e-8],
    ['Michelso', michelson, 299.8524, 0.0790105478190518, 1e-12],
  ])('gives the certified mean and deviation of %s (STA-2)', (_name, values, mean, sd, tolerance) => {
    const found = moments(values)
    expect(Math.abs(found.mean / mean - 1)).toBeLessThan(1e-14)
    // NumAcc3 and 4: the decimals do not exist in doubles, so the data are off by 1e-10 and 1e-9 before anything is computed.
    expect(Math.abs(Math.sqrt(found.variance ?? 0) / sd - 1)).toBeLessThan(tolerance)
  })

  it('finds no spread in equal values, and none to speak of in one (STA-2)', () => {
    expect(moments([0.1, 0.1, 0.1])).toEqual({ n: 3, mean: 0.1, variance: 0 })
    expect(moments([5])).toEqual({ n: 1, mean: 5, variance: null })
  })

  it('refuses nothing and what is no number (STA-2)', () => {
    expect(() => moments([])).toThrow(RangeError)
    expect(() => moments([1, Number.NaN])).toThrow(/number 2 is NaN/)
    expect(() => moments([Number.POSITIVE_INFINITY])).toThrow(RangeError)
  })
})

describe('t intervals', () => {
  // Student (1908), "The probable error of a mean": additional hours of sleep gained by two drugs; p and bounds as R prints them.
  const first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
  const second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]

  it('pairs Student’s sleep data (STA-2)', () => {
    const { estimate, standardError, df, interval } = tInterval(
      first.map((value, i) => value - (second[i] ?? Number.NaN)),
      0.95,
    )
    expect(estimate).toBeCloseTo(-1.58, 12)
    expect(estimate / (standardError ?? 0)).toBeCloseTo(-4.0621, 4)
    expect(df).toBe(9)
    expect(interval?.lower).toBeCloseTo(-2.4598858, 7)
    expect(interval?.upper).toBeCloseTo(-0.7001142, 7)
  })

  it('compares them as independent samples, after Welch (STA-2)', () => {
    const { estimate, standardError, df, interval } = welchTInterval(first, second, 0.95)
    expect(estimate / (standardError ?? 0)).toBeCloseTo(-1.8608, 4)
    expect(df).toBeCloseTo(17.776, 3)
    expect(interval?.lower).toBeCloseTo(-3.3654832, 7)
    expect(interval?.upper).toBeCloseTo(0.2054832, 7)
  })

  it('says nothing about spread from one value (STA-2)', () => {
    expect(tInterval([3], 0.9)).toEqual({ estimate: 3, standardError: null, df: null, interval: null })
    expect(welchTInterval([1, 2], [3], 0.9).interval).toBeNull()
  })

  it('moves and scales with its data, and widens with confidence (STA-2)', () => {
    const values = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 2, maxLength: 12 })
    const factor = fc.double({ min: 0.1, max: 10, noNaN: true })
    fc.assert(
      fc.property(values, factor, fc.double({ min: -100, max: 100, noNaN: true }), (data, scale, shift) => {
        const here = tInterval(data, 0.9).interval
        const there = tInterval(
          data.map((value) => scale * value + shift),
          0.9,
        ).interval
        expect(there?.lower).toBeCloseTo(scale * (here?.lower ?? Number.NaN) + shift, 6)
        const wider = tInterval(data, 0.95).interval
        expect(wider?.upper).toBeGreaterThanOrEqual(here?.upper ?? Number.NaN)
      }),
    )
  })

  it('refuses odd confidences (STA-2)', () => {
    expect(() => tInterval([1, 2], 90)).toThrow(/confidence/)
    expect(() => tInterval([1, 2], Number.NaN)).toThrow(/confidence/)
  })

  it('has no width without spread (STA-2)', () => {
    expect(tInterval([2, 2, 2], 0.9).interval).toEqual({ lower: 2, upper: 2, confidence: 0.9 })
    expect(welchTInterval([2, 2], [1, 1], 0.9)).toMatchObject({ estimate: 1, standardError: 0, df: 2 })
  })
})
