import { describe, expect, it } from 'vitest'
import { keyedRandom } from '../../kernel/index.ts'
import { type CurvePoint, extrapolateCurve, isHopeless } from './extrapolate-curve.ts'

const shares = [1, 2, 3, 4, 5, 6].map((step) => step / 6)
/** A score that nears its end by a power of the share, with noise. */
function curveOf(end: number, missing: number, power: number, noise = 0, seed = 0): CurvePoint[] {
  const draw = keyedRandom(seed, 'curve')
  return shares.map((share) => ({ share, value: end - missing * (share ** -power - 1) + noise * draw.normal() }))
}
const known = Array.from({ length: 6 }, (_, i) => {
  const points = curveOf(0.7 + 0.04 * i, 0.2, 0.5, 0.01, i)
  return { points, value: points.at(-1)?.value ?? 0 }
})
const options = { finished: known, noise: 0.01, direction: 'max' as const }

describe('the end of a curve', () => {
  it('is found where its points follow a power, in either direction (RES-590)', () => {
    for (const power of [0.25, 0.5, 1]) {
      const points = curveOf(0.8, 0.1, power).slice(0, 4)
      expect(extrapolateCurve(points, options)?.mean).toBeCloseTo(0.8, 1)
      const losses = points.map(({ share, value }) => ({ share, value: -value }))
      const finished = known.map(({ points: all, value }) => ({
        points: all.map((each) => ({ ...each, value: -each.value })),
        value: -value,
      }))
      expect(extrapolateCurve(losses, { ...options, finished, direction: 'min' })?.mean).toBeCloseTo(-0.8, 1)
    }
  })

  it('is within two of its stated errors in 90 of 100 curves, at a third and at half of the training (RES-590)', () => {
    for (const seen of [2, 3]) {
      const inside = Array.from({ length: 200 }, (_, i) => {
        const draw = keyedRandom(i, 'drawn')
        const points = curveOf(0.5 + 0.4 * draw.float(), 0.3 * draw.float(), 0.2 + draw.float(), 0.02, 1000 + i)
        const end = extrapolateCurve(points.slice(0, seen), options)
        return end !== undefined && Math.abs((points.at(-1)?.value ?? 0) - end.mean) <= 2 * end.sd
      })
      expect(inside.filter(Boolean).length).toBeGreaterThanOrEqual(180)
    }
  })

  it('is surer the more of the curve is seen (RES-590)', () => {
    const points = curveOf(0.8, 0.2, 0.5)
    const sds = [2, 3, 4, 5].map((n) => extrapolateCurve(points.slice(0, n), options)?.sd ?? 0)
    expect(sds).toEqual([...sds].sort((a, b) => b - a))
    expect(extrapolateCurve(points.slice(0, 1), options)).toBeUndefined()
  })

  it('counts how wrong it was in the session: where curves rise late, one that has not risen is not ended (RES-590)', () => {
    const late = [0, 0.05, 0.4, 0.7, 0.88, 0.92].map((value, i) => ({ share: shares[i] ?? 1, value }))
    const seen = late.slice(0, 2)
    const hopeless = (finished: typeof known) => {
      const end = extrapolateCurve(seen, { ...options, finished })
      return end !== undefined && isHopeless(end, { best: 0.9, direction: 'max', isFlat: false })
    }
    expect(hopeless(known)).toBe(true)
    expect(hopeless([late, late].map((points) => ({ points, value: 0.92 })))).toBe(false)
  })

  it('condemns what stays far behind the best, and nothing early or near it (RES-590)', () => {
    const judged = (points: CurvePoint[], best: number) => {
      const end = extrapolateCurve(points, options)
      return end !== undefined && isHopeless(end, { best, direction: 'max', isFlat: false })
    }
    const flat = shares.map((share) => ({ share, value: 0 }))
    expect(judged(flat.slice(0, 2), 0.9)).toBe(true)
    expect(judged(curveOf(0.88, 0.2, 0.5).slice(0, 3), 0.9)).toBe(false)
    // Where nothing has risen yet, half of the training is waited for.
    for (const noise of [0, 0.004]) {
      const nothing = { ...options, finished: [{ points: flat, value: 0 }], noise }
      const ends = [2, 3].map((n) => extrapolateCurve(flat.slice(0, n), nothing))
      const hopeless = ends.map((end) => end && isHopeless(end, { best: 0, direction: 'max', isFlat: true }))
      expect(hopeless).toEqual([false, true])
    }
  })
})
