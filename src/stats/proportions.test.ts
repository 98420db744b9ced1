import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clopperPearson, passAtK, passHatK, wilson } from './proportions.ts'

// Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I: score method 3, exact method 5, at 95 %.
const newcombe = [
  [81, 263, 0.2553, 0.3662, 0.2527, 0.3676],
  [15, 148, 0.0624, 0.1605, 0.0578, 0.1617],
  [0, 20, 0, 0.1611, 0, 0.1684],
  [1, 29, 0.0061, 0.1718, 0.0009, 0.1776],
] as const

const counts = fc
  .integer({ min: 1, max: 60 })
  .chain((trials) => fc.tuple(fc.integer({ min: 0, max: trials }), fc.constant(trials)))

describe('intervals of a proportion', () => {
  it.each(newcombe)('%d of %d: score and exact bounds as printed (STA-6)', (k, n, low, high, exactLow, exactHigh) => {
    const score = wilson(k, n, 0.95)
    expect(score.lower).toBeCloseTo(low, 4)
    expect(score.upper).toBeCloseTo(high, 4)
    const exact = clopperPearson(k, n, 0.95)
    expect(exact.lower).toBeCloseTo(exactLow, 4)
    expect(exact.upper).toBeCloseTo(exactHigh, 4)
  })

  it('hold the share, stay in [0, 1] and mirror (STA-6)', () => {
    fc.assert(
      fc.property(counts, ([k, n]) => {
        for (const method of [wilson, clopperPearson]) {
          const { lower, upper } = method(k, n, 0.9)
          expect(lower).toBeGreaterThanOrEqual(0)
          expect(upper).toBeLessThanOrEqual(1)
          expect(lower).toBeLessThanOrEqual(k / n + 1e-12)
          expect(upper).toBeGreaterThanOrEqual(k / n - 1e-12)
          expect(method(n - k, n, 0.9).upper).toBeCloseTo(1 - lower, 10)
        }
      }),
    )
  })

  it('the exact upper bound leaves just its tail below (STA-6)', () => {
    // P(X <= 2) of 10 at the upper bound of a 90 % interval is 5 %.
    const p = clopperPearson(2, 10, 0.9).upper
    const tail = (1 - p) ** 10 + 10 * p * (1 - p) ** 9 + 45 * p ** 2 * (1 - p) ** 8
    expect(tail).toBeCloseTo(0.05, 12)
  })

  it.each([
    [3, 2, 0.9],
    [1, 0, 0.9],
    [-1, 5, 0.9],
    [1.5, 5, 0.9],
    [1, 5, 1],
  ])('refuse %d of %d at %d (STA-6)', (k, n, confidence) => {
    expect(() => wilson(k, n, confidence)).toThrow(RangeError)
    expect(() => clopperPearson(k, n, confidence)).toThrow(RangeError)
  })
})

const task = fc.integer({ min: 1, max: 12 }).chain((n) => fc.tuple(fc.constant(n), fc.nat({ max: n })))

describe('pass@k and pass^k', () => {
  it('are what Chen et al. compute (STA-7)', () => {
    // The function printed in figure 3 of the paper: 1 - prod(1 - k / arange(n - c + 1, n + 1)).
    const printed = (n: number, c: number, k: number) => {
      if (n - c < k) return 1
      let product = 1
      for (let i = n - c + 1; i <= n; i++) product *= 1 - k / i
      return 1 - product
    }
    for (const [n, c, k] of [
      [200, 3, 1],
      [200, 3, 10],
      [200, 3, 100],
      [200, 150, 100],
      [5, 2, 3],
    ] as const) {
      expect(passAtK(n, c, k)).toBeCloseTo(printed(n, c, k), 12)
    }
  })

  it('count subsets: the share of k-subsets with a right sample, and with only right ones (STA-7)', () => {
    fc.assert(
      fc.property(task, fc.nat({ max: 11 }), ([n, c], more) => {
        const k = 1 + (more % n)
        let [any, all, total] = [0, 0, 0]
        for (let set = 0; set < 2 ** n; set++) {
          const members = Array.from({ length: n }, (_, i) => i).filter((i) => (set >> i) & 1)
          if (members.length !== k) continue
          total++
          if (members.some((i) => i < c)) any++
          if (members.every((i) => i < c)) all++
        }
        expect(passAtK(n, c, k)).toBeCloseTo(any / total, 12)
        expect(passHatK(n, c, k)).toBeCloseTo(all / total, 12)
      }),
    )
  })

  it('pass@k never falls as k grows, pass^k never rises, and both are the success rate at 1 (STA-7)', () => {
    fc.assert(
      fc.property(task, ([n, c]) => {
        expect(passAtK(n, c, 1)).toBeCloseTo(c / n, 12)
        expect(passHatK(n, c, 1)).toBeCloseTo(c / n, 12)
        for (let k = 2; k <= n; k++) {
          expect(passAtK(n, c, k)).toBeGreaterThanOrEqual(passAtK(n, c, k - 1) - 1e-12)
          expect(passHatK(n, c, k)).toBeLessThanOrEqual(passHatK(n, c, k - 1) + 1e-12)
        }
      }),
    )
  })

  it.each([
    [3, 1, 5],
    [0, 0, 1],
    [3, 4, 1],
    [3, 1, 0],
    [3, 0.5, 1],
  ])('refuse %d samples, %d correct, k = %d (STA-7)', (n, c, k) => {
    expect(() => passAtK(n, c, k)).toThrow(RangeError)
    expect(() => passHatK(n, c, k)).toThrow(RangeError)
  })
})
