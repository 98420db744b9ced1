import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyedRandom } from '../kernel/index.ts'
import { effectMixture, shrinkByMixture } from './effect-mixture.ts'
import { effectPrior, expectedFalseKeeps, shrink } from './shrinkage.ts'

interface World {
  readonly helps: number
  readonly gain: number
  readonly nothing: number
  readonly loss: number
}

// Streams of ideas: some help, some do nothing, the others hurt; sizes are exponential, in standard deviations of one difference.
const early: World = { helps: 0.15, gain: 1, nothing: 0.35, loss: 3 }
const late: World = { helps: 0.05, gain: 0.4, nothing: 0.25, loss: 1 }
const empty: World = { helps: 0, gain: 1, nothing: 1, loss: 1 }

/** Means over what a loose rule keeps of many sessions: three seeds each, kept at 0.8 sigma. */
function sessions({ helps, gain, nothing, loss }: World) {
  const random = keyedRandom(11, 'idea-streams')
  const exponential = () => -Math.log(1 - random.float())
  const normal = () => Math.sqrt(2 * exponential()) * Math.cos(2 * Math.PI * random.float())
  const sums = { truth: 0, shrunk: 0, normal: 0, wrong: 0, expected: 0, n: 0 }
  for (let session = 0; session < 15; session++) {
    const tried = Array.from({ length: 100 }, () => {
      const kind = random.float()
      const truth = kind < helps ? gain * exponential() : kind < helps + nothing ? 0 : -loss * exponential()
      return { truth, effect: truth + normal() / Math.sqrt(3), noise: 1 / 3 }
    })
    const mixture = effectMixture(tried)
    const prior = effectPrior(tried)
    if (mixture === null || prior === null) throw new Error('a hundred effects make a prior')
    const kept = tried.filter(({ effect }) => effect > 0.8 / Math.sqrt(3))
    const posteriors = kept.map((each) => shrinkByMixture(each, mixture))
    sums.n += kept.length
    sums.truth += kept.reduce((sum, { truth }) => sum + truth, 0)
    sums.wrong += kept.filter(({ truth }) => truth <= 0).length
    sums.shrunk += posteriors.reduce((sum, { effect }) => sum + effect, 0)
    sums.normal += kept.reduce((sum, each) => sum + shrink(each, prior).effect, 0)
    sums.expected += expectedFalseKeeps(posteriors)
  }
  const { n, truth, shrunk, normal: byNormal, wrong, expected } = sums
  return { truth: truth / n, shrunk: shrunk / n, normal: byNormal / n, wrong: wrong / n, expected: expected / n }
}

describe('a mixture of effects', () => {
  it.each([
    ['early', early],
    ['late', late],
    ['without any gain', empty],
  ])('takes back what was luck in a session, %s (RES-705)', (_, world) => {
    const { truth, shrunk, normal, wrong, expected } = sessions(world)
    expect(Math.abs(shrunk - truth)).toBeLessThan(0.1)
    expect(Math.abs(expected - wrong)).toBeLessThan(0.2)
    // One normal prior takes the harm of bad ideas for a spread of gains.
    if (world !== empty) expect(Math.abs(normal - truth)).toBeGreaterThan(3 * Math.abs(shrunk - truth))
  })

  it('needs three effects, and refuses noise below zero (RES-705)', () => {
    expect(effectMixture([1, 2].map((effect) => ({ effect, noise: 1 })))).toBeNull()
    expect(() => effectMixture([1, 2, 3].map((effect) => ({ effect, noise: -1 })))).toThrow(RangeError)
  })

  it('leaves effects without noise as they are (RES-705)', () => {
    const exact = [0.5, -2, 0, 0.1].map((effect) => ({ effect, noise: 0 }))
    const mixture = effectMixture(exact)
    if (mixture === null) throw new Error('four effects make a mixture')
    for (const each of exact) expect(shrinkByMixture(each, mixture).effect).toBeCloseTo(each.effect, 9)
    expect(shrinkByMixture({ effect: 0.5, noise: 0 }, mixture).probabilityNotBetter).toBeCloseTo(0, 9)
  })

  it('never leaves the finite numbers (RES-705)', () => {
    const effect = fc.double({ min: -1e6, max: 1e6, noNaN: true })
    const noise = fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e6, noNaN: true }))
    const tried = fc.array(fc.record({ effect, noise }), { minLength: 3, maxLength: 12 })
    fc.assert(
      fc.property(tried, (all) => {
        const mixture = effectMixture(all)
        if (mixture === null) throw new Error('three effects make a mixture')
        for (const each of all) {
          const { effect: shrunk, standardError, probabilityNotBetter } = shrinkByMixture(each, mixture)
          expect(Number.isFinite(shrunk) && Number.isFinite(standardError)).toBe(true)
          expect(probabilityNotBetter).toBeGreaterThanOrEqual(0)
          expect(probabilityNotBetter).toBeLessThanOrEqual(1)
        }
      }),
      { numRuns: 60 },
    )
  })
})
