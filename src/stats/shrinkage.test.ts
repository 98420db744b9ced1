import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../tests/keyed-draws.ts'
import { scaled } from '../../tests/scale.ts'
import { moments } from './moments.ts'
import {
  type EffectPrior,
  expectedFalseKeeps,
  ideaMixture,
  type MeasuredEffect,
  shrink,
  weighEffect,
} from './shrinkage.ts'

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

/** The spread of true effects among all that were tried, by the method of moments. */
function effectPrior(tried: readonly MeasuredEffect[]): EffectPrior {
  const { mean, variance } = moments(tried.map(({ effect }) => effect))
  const noise = moments(tried.map((one) => one.noise)).mean
  const spread = Math.max(0, (variance ?? 0) - noise)
  return { mean, variance: spread, meanVariance: (spread + noise) / tried.length }
}

describe('shrinkage', () => {
  const players = early.map((effect) => ({ effect, noise }))
  const prior = effectPrior(players)

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
    expect(flat.variance).toBe(0)
    const shrunk = shrink({ effect: 5, noise: 1 }, flat)
    expect(shrunk.effect).toBeCloseTo(0.11, 12)
    expect(shrunk.factor).toBe(0)
    expect(shrunk.standardError).toBeGreaterThan(0.5)
  })

  it('keeps what was measured without noise (STA-9)', () => {
    const exact = effectPrior([1, 1, 1].map((effect) => ({ effect, noise: 0 })))
    expect(shrink({ effect: 1, noise: 0 }, exact)).toEqual({
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
})

// Ideas of known sort, each measured once with unit noise of its own.
function world(name: string, n: number, shares: { help: number; gain: number; hurt: number; loss: number }) {
  const random = draws('ideas', name)
  return Array.from({ length: n }, () => {
    const kind = random.float()
    const size = -Math.log(1 - random.float())
    const truth = kind < shares.help ? shares.gain * size : kind < shares.help + shares.hurt ? -shares.loss * size : 0
    // The incumbent's luck, a fifth of the noise, and the part of the noise that is the idea's own.
    return { truth, effect: truth - 0.2 + Math.sqrt(0.7) * random.normal(), noise: 1 }
  })
}

describe('ideaMixture', () => {
  it('finds the shares and sizes of ideas (STA-9)', () => {
    const tried = world('early', 4000, { help: 0.3, gain: 2, hurt: 0.4, loss: 4 })
    const { help, hurt, gain, loss } = ideaMixture(tried, 1)
    expect(Math.abs(help - 0.3)).toBeLessThan(0.06)
    expect(Math.abs(hurt - 0.4)).toBeLessThan(0.06)
    expect(Math.abs(gain - 2)).toBeLessThan(0.4)
    expect(Math.abs(loss - 4)).toBeLessThan(0.4)
  })

  it('says of the best looking ideas how many do nothing (STA-9)', () => {
    const tried = world('calibration', scaled(2000), { help: 0.15, gain: 1, hurt: 0.5, loss: 3 })
    const mixture = ideaMixture(tried, 1)
    const kept = tried.filter(({ effect }) => effect > 1)
    const said = kept.reduce((sum, one) => sum + weighEffect(one, mixture).probabilityNotBetter, 0) / kept.length
    const idle = kept.filter(({ truth }) => truth <= 0).length / kept.length
    expect(Math.abs(said - idle)).toBeLessThan(0.15)
    const gain = (value: (one: (typeof kept)[number]) => number) =>
      kept.reduce((sum, one) => sum + value(one), 0) / kept.length
    expect(Math.abs(gain((one) => weighEffect(one, mixture).effect) - gain(({ truth }) => truth))).toBeLessThan(0.25)
  })

  it('believes more in what looks better, and is finite for any numbers (STA-9)', () => {
    const size = fc.double({ min: -1e6, max: 1e6, noNaN: true })
    const effects = fc.array(fc.record({ effect: size, noise: fc.double({ min: 0, max: 1e6, noNaN: true }) }), {
      maxLength: 8,
    })
    fc.assert(
      fc.property(effects, size, size, fc.double({ min: 1e-6, max: 1e3, noNaN: true }), (tried, a, b, unit) => {
        const mixture = ideaMixture(tried, unit)
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((effect) =>
          weighEffect({ effect, noise: unit ** 2 }, mixture),
        )
        if (low === undefined || high === undefined) throw new Error('two were weighed')
        for (const value of Object.values(low)) expect(Number.isFinite(value)).toBe(true)
        expect(low.probabilityNotBetter).toBeGreaterThanOrEqual(high.probabilityNotBetter - 1e-9)
        expect(low.effect).toBeLessThanOrEqual(high.effect + 1e-6 * (1 + Math.abs(high.effect)))
      }),
    )
  })

  it('takes exact scores as they are (STA-9)', () => {
    const tried = [-3, -1, 2, 5].map((effect) => ({ effect, noise: 0 }))
    const weighed = weighEffect({ effect: 2, noise: 0 }, ideaMixture(tried, 1e-12))
    expect(weighed.effect).toBeCloseTo(2, 6)
    expect(weighed.probabilityNotBetter).toBeLessThan(1e-6)
  })
})
