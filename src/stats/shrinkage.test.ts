import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { effectPrior, expectedFalseKeeps, shrink } from './shrinkage.ts'

// Efron and Morris (1975), "Data analysis using Stein's estimator", table 1: batting averages of 18 players after 45 at-bats, and
// over the rest of the season.
const early = [
  0.4, 0.378, 0.356, 0.333, 0.311, 0.311, 0.289, 0.267, 0.244, 0.244, 0.222, 0.222, 0.222, 0.222, 0.222, 0.2, 0.178,
  0.156,
]
const season = [
  0.346, 0.298, 0.276, 0.222, 0.273, 0.27, 0.263, 0.21, 0.269, 0.23, 0.264, 0.256, 0.303, 0.264, 0.226, 0.285, 0.316,
  0.2,
]
const noise = (0.2654 * (1 - 0.2654)) / 45

describe('shrinkage', () => {
  const players = early.map((effect) => ({ effect, noise }))
  const prior = effectPrior(players)
  if (prior === null) throw new Error('18 players make a prior')

  it('finds mean and true spread of batting averages (STA-9)', () => {
    expect(prior.mean).toBeCloseTo(0.2654, 4)
    // The paper's factor of 0.212 is 1 - (k - 3) noise / sum of squares; without its correction for k - 3 it is 1 - (k - 1) ... .
    const { factor } = shrink({ effect: 0.4, noise }, prior)
    expect(factor).toBeCloseTo(1 - (17 / 15) * (1 - 0.212), 2)
  })

  it('predicts the season several times better than the raw averages (STA-9)', () => {
    const error = (guess: (effect: number) => number) =>
      early.reduce((sum, effect, i) => sum + (guess(effect) - (season[i] ?? 0)) ** 2, 0)
    const raw = error((effect) => effect)
    const shrunk = error((effect) => shrink({ effect, noise }, prior).effect)
    expect(raw / shrunk).toBeGreaterThan(3) // the paper: 3.5
  })

  it('moves towards the mean, never past it, the less the more it was measured (STA-9)', () => {
    const effect = fc.double({ min: -3, max: 3, noNaN: true })
    const tried = fc.array(fc.record({ effect, noise: fc.double({ min: 0.01, max: 1, noNaN: true }) }), {
      minLength: 3,
    })
    fc.assert(
      fc.property(tried, effect, (all, one) => {
        const found = effectPrior(all)
        if (found === null) throw new Error('three effects make a prior')
        const rough = shrink({ effect: one, noise: 0.5 }, found)
        const fine = shrink({ effect: one, noise: 0.05 }, found)
        const [low, high] = [Math.min(one, found.mean), Math.max(one, found.mean)]
        expect(rough.effect).toBeGreaterThanOrEqual(low - 1e-12)
        expect(rough.effect).toBeLessThanOrEqual(high + 1e-12)
        expect(fine.factor).toBeGreaterThanOrEqual(rough.factor)
        expect(rough.probabilityNotBetter).toBeGreaterThanOrEqual(0)
        expect(rough.probabilityNotBetter).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('takes all for noise when noise explains all (STA-9)', () => {
    const flat = effectPrior([0.1, 0.11, 0.12].map((effect) => ({ effect, noise: 1 })))
    expect(flat?.variance).toBe(0)
    const shrunk = shrink({ effect: 5, noise: 1 }, flat ?? prior)
    expect(shrunk.effect).toBeCloseTo(0.11, 12)
    expect(shrunk.factor).toBe(0)
    expect(shrunk.standardError).toBeGreaterThan(0.5)
  })

  it('keeps what was measured without noise (STA-9)', () => {
    const exact = effectPrior([1, 1, 1].map((effect) => ({ effect, noise: 0 })))
    expect(shrink({ effect: 1, noise: 0 }, exact ?? prior)).toEqual({
      effect: 1,
      factor: 1,
      standardError: 0,
      probabilityNotBetter: 0,
    })
  })

  it('adds up the keeps that help nothing (STA-9)', () => {
    const kept = [0.1, 0.5].map((probabilityNotBetter) => ({
      ...shrink({ effect: 1, noise }, prior),
      probabilityNotBetter,
    }))
    expect(expectedFalseKeeps(kept)).toBeCloseTo(0.6, 12)
  })

  it('knows nothing of two effects, and refuses noise below zero (STA-9)', () => {
    expect(effectPrior(players.slice(0, 2))).toBeNull()
    expect(() => effectPrior([1, 2, 3].map((effect) => ({ effect, noise: -1 })))).toThrow(/noise/)
    expect(() => effectPrior([1, 2, Number.NaN].map((effect) => ({ effect, noise: 1 })))).toThrow(RangeError)
  })
})
