import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passAtK, passHatK } from './pass-at-k.ts'

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
