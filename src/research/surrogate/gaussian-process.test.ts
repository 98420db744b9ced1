import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logExpectedImprovement } from './gaussian-process.ts'

const mean = fc.double({ min: -50, max: 50, noNaN: true })
const sd = fc.double({ min: 0, max: 10, noNaN: true })

describe('logExpectedImprovement', () => {
  it('is the mean of what lies above the best (RES-112)', () => {
    for (const [m, s] of [
      [0, 1],
      [-2, 0.5],
      [1, 2],
    ] as const) {
      let sum = 0
      const step = 1e-3
      for (let z = -8; z < 8; z += step) {
        const middle = z + step / 2
        sum += Math.max(0, m + s * middle) * Math.exp(-(middle ** 2) / 2) * (step / Math.sqrt(2 * Math.PI))
      }
      expect(logExpectedImprovement(m, s, 0)).toBeCloseTo(Math.log(sum), 3)
    }
  })

  it('is finite and grows with the mean, also where the gain is too small for a number (RES-112)', () => {
    fc.assert(
      fc.property(mean, sd, fc.double({ min: 0.01, max: 5, noNaN: true }), (m, s, more) => {
        const worth = logExpectedImprovement(m, s, 0)
        expect(Number.isFinite(worth)).toBe(true)
        expect(logExpectedImprovement(m + more, s, 0)).toBeGreaterThan(worth)
      }),
    )
    const below = logExpectedImprovement(-6.0001, 1, 0)
    expect(Math.abs(below - logExpectedImprovement(-5.9999, 1, 0))).toBeLessThan(0.005)
  })
})
