import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pooledNoise } from '../../stats/index.ts'
import { assessControl } from './control-runs.ts'
import { pairGains } from './measure-gain.ts'
import { addGains, addIncumbent, openNoise, sessionNoise } from './session-noise.ts'

const results = (...values: (number | null)[]) => values.map((value, seed) => ({ seed, value }))
const values = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 8 })

describe('sessionNoise', () => {
  it('is the pooled noise of baseline and races, however they are added (RES-201)', () => {
    fc.assert(
      fc.property(values, fc.array(values, { maxLength: 6 }), (baseline, races) => {
        const { sigma, df } = pooledNoise({ baseline, differences: races })
        const noise = sessionNoise(results(...baseline), races)
        expect(noise.degreesOfFreedom).toBe(df)
        expect(noise.sigma).toBeCloseTo(sigma ?? Number.NaN, 8)
      }),
    )
  })

  it('learns nothing of noise from a race of one seed (RES-201)', () => {
    const noise = openNoise(results(1, 2, 3))
    expect(addGains(noise, [7])).toBe(noise)
    expect(addIncumbent(noise, results(7))).toBe(noise)
  })

  it('tells seed noise, jitter and visible effects of the baseline (RES-201)', () => {
    const { baseline, seedSd } = openNoise(results(1, 2, 3), [[1, 1.2]])
    expect(seedSd).toBe(1)
    expect(baseline.jitterSd).toBeCloseTo(Math.SQRT2 / 10, 12)
    expect(baseline.visible.map(({ pairs }) => pairs)).toEqual([2, 3, 5])
  })

  it('is that of half an item where right and wrong answers agree over all seeds (RES-540)', () => {
    const allWrong = [1, 2, 3].map((seed) => ({ seed, value: 0, items: new Array<number>(200).fill(0) }))
    expect(openNoise(allWrong).seedSd).toBe(0.5 / 200)
    expect(openNoise(allWrong).sigma).toBeCloseTo((Math.SQRT2 * 0.5) / 200, 12)
    // One of 200 right on a fresh seed is no drift.
    const control = { control: 1 / 200, incumbent: allWrong, noise: openNoise(allWrong) }
    expect(assessControl(control)).toMatchObject({ drift: false, deviation: expect.closeTo(Math.sqrt(3), 10) })
    const losses = allWrong.map((each) => ({ ...each, value: 0.25, items: [0.25, 0.25] }))
    expect(openNoise(losses).seedSd).toBeLessThan(1e-9)
  })

  it('is above zero where all runs agree, and leaves failed runs out (RES-201)', () => {
    expect(openNoise(results(0.5, 0.5, 0.5)).sigma).toBeGreaterThan(0)
    expect(openNoise(results(0, 0, 0)).sigma).toBeGreaterThan(0)
    expect(openNoise(results(1, null, 3, Number.NaN)).sigma).toBe(2)
  })

  it('takes the whole score for noise while one run is all there is (RES-201)', () => {
    const noise = openNoise(results(0.19))
    expect(noise.sigma).toBe(0.19)
    expect(addGains(noise, [0.01, 0.03]).sigma).toBeCloseTo(Math.sqrt(0.0002), 12)
  })

  it('pools the spread over seeds with that of incumbents that were replaced (RES-201)', () => {
    const noise = sessionNoise(results(1, 2, 3), [], [], [results(4, 8)])
    expect(noise.seedDegreesOfFreedom).toBe(3)
    expect(noise.seedSd).toBeCloseTo(Math.sqrt((2 + 8) / 3), 12)
  })
})

describe('what seeds have in common', () => {
  // By hand: seeds of variance 1 and pairs of variance 2, which is what sharing nothing gives; then races of less noise.
  const first = addGains(openNoise(results(1, 2, 3)), [0, 1, 2])
  const second = addGains(first, [0, 2])

  it('is one half before any race, and moves to what races show as they come in (RES-220)', () => {
    expect(openNoise(results(1, 2, 3)).shared).toBe(0.5)
    expect(first).toMatchObject({ raced: 2, sigma: expect.closeTo(Math.sqrt(6 / 4), 12) })
    expect(first.shared).toBeCloseTo(0.2 * (1 - 1.5 / 2) + 0.8 * 0.5, 12)
    expect(second).toMatchObject({ raced: 3, sigma: expect.closeTo(Math.sqrt(8 / 5), 12) })
    expect(second.shared).toBeCloseTo((3 / 11) * (1 - 1.6 / 2) + (8 / 11) * 0.5, 12)
  })

  it('follows the spread of incumbents, and is a share whatever the noise (RES-220)', () => {
    const wider = addIncumbent(second, results(4, 8)) // variance (2 + 8) / 3
    expect(wider.shared).toBeCloseTo((3 / 11) * (1 - 1.6 / (20 / 3)) + (8 / 11) * 0.5, 12)
    const noisy = addGains(openNoise(results(1, 2, 3)), [0, 100])
    expect(noisy.shared).toBeCloseTo((8 / 9) * 0.5, 12)
  })
})

describe('pairGains', () => {
  it('pairs equal seeds alone, better is positive (RES-201)', () => {
    const candidate = [
      { seed: 3, value: 5 },
      { seed: 1, value: 2 },
      { seed: 9, value: 1 },
    ]
    const other = [
      { seed: 1, value: 1 },
      { seed: 3, value: 7 },
    ]
    expect(pairGains('max', candidate, other)).toEqual([-2, 1])
    expect(pairGains('min', candidate, other)).toEqual([2, -1])
  })

  it('makes no pair of a missing score, NaN or infinity, on either side (RES-201)', () => {
    const bad = fc.constantFrom(null, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY)
    fc.assert(
      fc.property(bad, fc.constantFrom('max' as const, 'min' as const), (value, direction) => {
        expect(pairGains(direction, results(value), results(1))).toEqual([])
        expect(pairGains(direction, results(1), results(value))).toEqual([])
      }),
    )
  })
})
