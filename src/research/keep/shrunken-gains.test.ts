import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import { meanOf } from '../../stats/index.ts'
import { type DecidedAttempt, shrunkenGains } from './shrunken-gains.ts'
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
