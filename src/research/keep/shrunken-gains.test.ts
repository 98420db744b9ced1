import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import { meanOf } from '../../stats/index.ts'
import { type DecidedAttempt, racePrior, shrunkenGains } from './shrunken-gains.ts'
import type { TestEvaluationRecord } from './test-evaluation.ts'

const attempt = (
  number: number,
  mean: number,
  verdict: DecidedAttempt['verdict'] = 'discarded',
  n = 2,
): DecidedAttempt => ({ id: `a${number}`, number, gain: { mean, n, sigma: 1 }, verdict })

const evaluation = (number: number, p: number, confirmed: boolean): TestEvaluationRecord => ({
  number,
  reason: 'milestone',
  champion: `a${number}`,
  keeps: 5 * number,
  level: 0.01,
  p,
  better: confirmed,
  confirmed,
  words: '',
})

describe('shrunkenGains', () => {
  it('draws kept gains towards what ideas usually do (RES-213)', () => {
    const attempts = [-2, -1, 0.2, -0.5, -1.5, 0.1].map((mean, i) => attempt(i + 1, mean))
    const { kept, expectedFalseKeeps } = shrunkenGains([...attempts, attempt(7, 2, 'provisional')], [])
    expect(kept).toHaveLength(1)
    expect(kept[0]).toMatchObject({ id: 'a7', raw: 2, n: 2 })
    expect(kept[0]?.shrunk).toBeLessThan(2)
    expect(expectedFalseKeeps).toBeCloseTo(kept[0]?.probabilityNotBetter ?? Number.NaN, 12)
  })

  it('says nothing of luck before three ideas were measured, and leaves the baseline and failures out (RES-213)', () => {
    const failed: DecidedAttempt = { id: 'a3', number: 3, verdict: 'failed' }
    const gains = shrunkenGains([attempt(0, 0), attempt(1, 1, 'provisional'), attempt(2, -1), failed], [])
    expect(gains.kept).toEqual([{ id: 'a1', raw: 1, n: 2 }])
    expect(gains.expectedFalseKeeps).toBeUndefined()
  })

  it('is not fooled by races that bad luck stopped early (RES-213)', () => {
    // Ideas that do nothing: half stop at a first seed that is bad, the others go on and even out.
    const random = draws('stopped races')
    const attempts = Array.from({ length: 2000 }, (_, i) => {
      const gains = [random.normal()]
      while ((gains[0] ?? 0) > 0 && gains.length < 5) gains.push(random.normal())
      return attempt(i + 1, meanOf(gains), 'provisional', gains.length)
    })
    const { kept, expectedFalseKeeps } = shrunkenGains(attempts, [])
    // An incumbent is taken to be lucky by a fifth of the noise; here it is not, so the mean is a little high.
    expect(Math.abs(meanOf(kept.map(({ shrunk = Number.NaN }) => shrunk)))).toBeLessThan(0.2)
    expect(meanOf(kept.map(({ raw }) => raw))).toBeLessThan(-0.2)
    expect(expectedFalseKeeps).toBeGreaterThan(600)
  })

  it('counts every test evaluation in the p-values of claims (RES-213)', () => {
    const { claims } = shrunkenGains(
      [],
      [evaluation(1, 0.3, false), evaluation(2, 0.004, true), evaluation(3, 0.001, true)],
    )
    expect(claims.map(({ adjustedP }) => adjustedP)).toEqual([0.3, 0.008, 0.003])
  })
})

describe('racePrior', () => {
  it('rests on sums over races, which stopping does not bend (RES-213)', () => {
    // By hand: 6 seeds, mean 14/6, noise 6/4, squares 56/9, weights 14.
    const races = [1, 2, 3].map((n) => ({ mean: n, n, sigma: 0.5 }))
    const variance = (56 / 9 - 1.5) / 14
    expect(racePrior(races)).toMatchObject({
      mean: expect.closeTo(14 / 6, 12),
      variance: expect.closeTo(variance, 12),
      meanVariance: expect.closeTo((1.5 / 6 + (variance * 14) / 6) / 6, 12),
      mixture: expect.anything(),
    })
  })

  it('has no variance where noise explains all, no mixture without noise, and says nothing below three (RES-213)', () => {
    const race = { mean: 1, n: 2, sigma: 3 }
    expect(racePrior([race, race, race])).toMatchObject({ mean: 1, variance: 0 })
    expect(racePrior([race, race])).toBeNull()
    const sure = racePrior([1, 2, 3].map((mean) => ({ mean, n: 1, sigma: 0 })))
    expect(sure).toMatchObject({ mean: 2, variance: expect.closeTo(2 / 3, 12) })
    expect(sure).not.toHaveProperty('mixture')
  })
})
