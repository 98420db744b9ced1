import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import { scaled } from '../../../tests/scale.ts'
import { meanOf, moments } from '../../stats/index.ts'
import { measureGain, pairGains } from './measure-gain.ts'

const results = (values: readonly number[]) => values.map((value, seed) => ({ seed, value }))

describe('measureGain', () => {
  it('is the mean of the pairs where nothing else is known (RES-220)', () => {
    const noise = { sigma: 0.7, degreesOfFreedom: 9 }
    const value = fc.integer({ min: -80, max: 80 }).map((n) => n / 8)
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 5 }), (pairs) => {
        const candidate = results(pairs.map(([own]) => own))
        const incumbent = results(pairs.map(([, other]) => other))
        const gain = measureGain({ direction: 'max', candidate, incumbent, noise })
        expect(gain).toMatchObject({ n: pairs.length, sigma: 0.7 })
        expect(gain?.mean).toBeCloseTo(meanOf(pairGains('max', candidate, incumbent)), 12)
      }),
    )
    expect(measureGain({ direction: 'max', candidate: [], incumbent: results([1]), noise })).toBeUndefined()
  })

  it.each([0, 0.3, 0.6, 0.9])('is right on average, and its error is what it says, at rho %d (RES-220)', (rho) => {
    const random = draws('measure gain', rho)
    const noise = { sigma: Math.sqrt(2 * (1 - rho)), degreesOfFreedom: 99, seedSd: 1, shared: rho }
    const errors = Array.from({ length: scaled(2000) }, () => {
      const seeds = Array.from({ length: 5 }, () => Math.sqrt(rho) * random.normal())
      const run = (count: number) =>
        results(seeds.slice(0, count).map((one) => one + Math.sqrt(1 - rho) * random.normal()))
      const gain = measureGain({ direction: 'min', candidate: run(1), incumbent: run(5), noise })
      if (gain === undefined) throw new Error('one seed is shared')
      // A pair alone has the error sigma.
      expect(gain.sigma).toBeLessThanOrEqual(noise.sigma)
      return gain.mean / gain.sigma
    })
    const { mean, variance } = moments(errors)
    expect(Math.abs(mean)).toBeLessThan(0.1)
    expect(Math.abs((variance ?? 0) - 1)).toBeLessThan(0.15)
  })

  it('weighs the seeds that only the incumbent ran by what seeds have in common (RES-220)', () => {
    const race = { direction: 'max' as const, candidate: results([3, 5]), incumbent: results([1, 2, 4, 8]) }
    const noise = { sigma: 1, degreesOfFreedom: 9, seedSd: 1, shared: 0.5 }
    // By hand: the shared seeds have the weight 3/4, so 4 stands against 3/4 of 1.5 and 1/4 of 6.
    const variance = ((1 + 9 / 16) * 0.5) / 2 + (1 / 16) * ((1 - 0.5) / 2 + 1 / 2)
    expect(measureGain({ ...race, noise })).toEqual({
      mean: expect.closeTo(4 - 2.625, 12),
      n: 2,
      sigma: expect.closeTo(Math.sqrt(2 * variance), 12),
    })
    expect(measureGain({ ...race, noise: { sigma: 1, degreesOfFreedom: 9 } })).toEqual({ mean: 2.5, n: 2, sigma: 1 })
  })
})
