import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import { bernoulliDifferenceSd, pairsNeeded, power, smallestDetectableEffect } from './power.ts'
import { tInterval } from './student-t.ts'

describe('power', () => {
  // Tails of the noncentral t by scipy 1.17: nct.sf(t.ppf((1 + confidence) / 2, n - 1), n - 1, gap * sqrt(n)).
  it.each([
    [5, 1, 0.9, 0.5797373588621888],
    [10, 1, 0.9, 0.8975169943396828],
    [20, 0.5, 0.9, 0.6951493382443412],
    [34, 0.5, 0.95, 0.8077766855149762],
  ])('of %d pairs, effect %d sd, confidence %d (STA-10)', (pairs, gap, confidence, expected) => {
    expect(power({ pairs, gap, sd: 1, confidence })).toBeCloseTo(expected, 10)
  })

  it('matches how often intervals lie above zero in simulation (STA-10)', () => {
    const experiments = scaled(1500)
    for (const [pairs, gap] of [
      [3, 1],
      [3, 2.5],
      [5, 1],
      [8, 0.5],
      [8, 1],
    ] as const) {
      const random = draws('power', pairs, gap)
      let supported = 0
      for (let i = 0; i < experiments; i++) {
        const differences = Array.from({ length: pairs }, () => gap + random.normal())
        supported += Number((tInterval(differences, 0.9).interval?.lower ?? 0) > 0)
      }
      const expected = power({ pairs, gap, sd: 1, confidence: 0.9 })
      const error = Math.sqrt((expected * (1 - expected)) / experiments)
      expect(Math.abs(supported / experiments - expected)).toBeLessThan(3.5 * error)
    }
  })

  it('of no gap is the level, of one pair nothing, and grows with pairs and gap (STA-10)', () => {
    expect(power({ pairs: 4, gap: 0, sd: 1, confidence: 0.9 })).toBeCloseTo(0.05, 10)
    expect(power({ pairs: 1, gap: 100, sd: 1, confidence: 0.9 })).toBe(0)
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 40 }), fc.double({ min: 0, max: 3, noNaN: true }), (pairs, gap) => {
        const here = power({ pairs, gap, sd: 1, confidence: 0.9 })
        expect(power({ pairs: pairs + 1, gap, sd: 1, confidence: 0.9 })).toBeGreaterThanOrEqual(here - 1e-10)
        expect(power({ pairs, gap: gap + 0.1, sd: 1, confidence: 0.9 })).toBeGreaterThanOrEqual(here - 1e-10)
      }),
    )
  })
})

describe('smallestDetectableEffect', () => {
  it('is the effect that has the wanted power (STA-10)', () => {
    for (const pairs of [2, 3, 5, 8, 30]) {
      for (const confidence of [0.8, 0.9, 0.99]) {
        const gap = smallestDetectableEffect({ pairs, sd: 0.02, confidence, power: 0.8 })
        expect(power({ pairs, gap: gap ?? 0, sd: 0.02, confidence })).toBeCloseTo(0.8, 8)
      }
    }
  })

  it('approaches 2.5 sd / sqrt(n) with many pairs, and is far above it with few (STA-10)', () => {
    const inUnits = (pairs: number) =>
      (smallestDetectableEffect({ pairs, sd: 1, confidence: 0.9 }) ?? 0) * Math.sqrt(pairs)
    expect(inUnits(500)).toBeCloseTo(2.49, 2)
    expect(inUnits(3)).toBeGreaterThan(3.9)
  })

  it('is nothing for one pair (STA-10)', () => {
    expect(smallestDetectableEffect({ pairs: 1, sd: 1, confidence: 0.9 })).toBeNull()
  })
})

describe('pairsNeeded', () => {
  // Sample sizes for matched pairs at power 0.8, G*Power 3 (Faul et al. 2007): Cohen's small, medium and large effects, one- and
  // two-sided at 5 %.
  it.each([
    [0.2, 0.9, 156],
    [0.5, 0.9, 27],
    [0.8, 0.9, 12],
    [0.2, 0.95, 199],
    [0.5, 0.95, 34],
    [0.8, 0.95, 15],
  ])('for an effect of %d sd at confidence %d is %d (STA-10)', (gap, confidence, pairs) => {
    expect(pairsNeeded({ gap, sd: 1, confidence })).toBe(pairs)
  })

  it('is the first number with the wanted power (STA-10)', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.25, max: 6, noNaN: true }), fc.constantFrom(0.8, 0.9, 0.95), (gap, confidence) => {
        const pairs = pairsNeeded({ gap, sd: 1, confidence }) ?? 0
        expect(power({ pairs, gap, sd: 1, confidence })).toBeGreaterThanOrEqual(0.8)
        if (pairs > 2) expect(power({ pairs: pairs - 1, gap, sd: 1, confidence })).toBeLessThan(0.8)
      }),
    )
  })

  it('does not promise what no number can do (STA-10)', () => {
    expect(pairsNeeded({ gap: 0, sd: 1, confidence: 0.9 })).toBeNull()
    expect(pairsNeeded({ gap: -1, sd: 1, confidence: 0.9 })).toBeNull()
    expect(pairsNeeded({ gap: 1e-9, sd: 1, confidence: 0.9 })).toBeNull()
    expect(pairsNeeded({ gap: 0.1, sd: 1, confidence: 0.9, most: 100 })).toBeNull()
    expect(pairsNeeded({ gap: 1, sd: 0, confidence: 0.9 })).toBe(2)
  })

  it('refuses odd input (STA-10)', () => {
    expect(() => pairsNeeded({ gap: 1, sd: Number.NaN, confidence: 0.9 })).toThrow(RangeError)
    expect(() => power({ pairs: 2.5, gap: 1, sd: 1, confidence: 0.9 })).toThrow(/pairs/)
    expect(() => power({ pairs: 2, gap: Number.NaN, sd: 1, confidence: 0.9 })).toThrow(/gap/)
    expect(() => smallestDetectableEffect({ pairs: 3, sd: 1, confidence: 0.9, power: 1 })).toThrow(/power/)
  })
})

describe('bernoulliDifferenceSd', () => {
  it('is the spread of a difference of two success rates (STA-10)', () => {
    expect(bernoulliDifferenceSd({ tasks: 100 })).toBeCloseTo(Math.sqrt(0.5 / 100), 12)
    const random = draws('bernoulli')
    const rate = () =>
      Array.from({ length: 60 }, () => Number(random.float() < 0.8)).reduce((sum, x) => sum + x, 0) / 60
    const differences = Array.from({ length: 4000 }, () => rate() - rate())
    const spread = Math.sqrt(differences.reduce((sum, d) => sum + d * d, 0) / differences.length)
    expect(Math.abs(spread / bernoulliDifferenceSd({ tasks: 20, samples: 3, rate: 0.8 }) - 1)).toBeLessThan(0.05)
    expect(() => bernoulliDifferenceSd({ tasks: 0 })).toThrow(RangeError)
  })
})

describe('the number of pairs', () => {
  it('is the smallest number that reaches the power, and none beyond `most` (STA-10)', () => {
    for (const confidence of [0.5, 0.9, 0.99]) {
      for (const gap of [0.1, 0.3, 0.8, 1.5, 3, 6, 20]) {
        const options = { gap, sd: 1, confidence, most: 3000 }
        const pairs = pairsNeeded(options) ?? Number.NaN
        expect(power({ ...options, pairs })).toBeGreaterThanOrEqual(0.8)
        if (pairs > 2) expect(power({ ...options, pairs: pairs - 1 })).toBeLessThan(0.8)
        expect(pairsNeeded({ ...options, most: pairs })).toBe(pairs)
        if (pairs > 2) expect(pairsNeeded({ ...options, most: pairs - 1 })).toBeNull()
      }
    }
  })

  it('refuses what is no plan (STA-10)', () => {
    const plan = { gap: 1, sd: 1, confidence: 0.9 }
    expect(() => pairsNeeded({ ...plan, power: 1 })).toThrow('power must lie between 0 and 1')
    expect(() => pairsNeeded({ ...plan, confidence: 0 })).toThrow('confidence must lie between 0 and 1')
    expect(() => pairsNeeded({ ...plan, gap: Number.NaN })).toThrow('gap must be finite')
    expect(() => power({ ...plan, pairs: 3, sd: 0 })).toThrow('sd must be above zero')
    expect(() => power({ ...plan, pairs: 3, confidence: 1 })).toThrow('confidence must lie between 0 and 1')
    expect(() => bernoulliDifferenceSd({ tasks: 10, samples: 0 })).toThrow('samples must be a whole number')
    expect(() => bernoulliDifferenceSd({ tasks: 10, rate: 1 })).toThrow('rate must lie between 0 and 1')
  })
})
