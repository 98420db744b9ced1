import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import type { CurveSample } from '../../contracts/index.ts'
import {
  allowedGap,
  type CurveDecision,
  curveGaps,
  curveRegret,
  curveWarmUp,
  decideCurve,
  leastOfFamily,
  type WatchedRun,
} from './curve-watcher.ts'

/** A loss that falls as a power of time towards `floor`. */
const curve = (floor: number, until = 100): CurveSample[] =>
  Array.from({ length: until }, (_, i) => ({ seconds: i + 1, value: floor + 3 * (i + 1) ** -0.5 }))

const gapsOf = (candidate: readonly CurveSample[]) =>
  curveGaps({ direction: 'min', candidate, incumbent: curve(1), trainSeconds: 100 })

const family = 'width'
const decide = (gaps: WatchedRun['gaps'], history: readonly WatchedRun[], seed = 1): CurveDecision =>
  decideCurve({ gaps, family }, history, seed)

const finished: WatchedRun[] = Array.from({ length: curveWarmUp }, (_, i) => ({
  family,
  gaps: [0.01 * (i % 3), 0.01 * (i % 3)],
  loss: i % 3 === 0 ? 5 : 0,
  condemned: false,
}))

describe('curveGaps', () => {
  it('compares at equal time, and knows nothing before a check is reached (RES-212)', () => {
    expect(gapsOf(curve(1.5, 30))).toEqual([expect.closeTo(0.5, 12), null])
    expect(gapsOf(curve(0.5))).toEqual([expect.closeTo(-0.5, 12), expect.closeTo(-0.5, 12)])
    expect(gapsOf([])).toEqual([null, null])
  })

  it('is the same where larger is better (RES-212)', () => {
    const flip = (samples: readonly CurveSample[]) => samples.map(({ seconds, value }) => ({ seconds, value: -value }))
    const flipped = curveGaps({
      direction: 'max',
      candidate: flip(curve(1.5)),
      incumbent: flip(curve(1)),
      trainSeconds: 100,
    })
    expect(flipped).toEqual(gapsOf(curve(1.5)))
  })
})

describe('decideCurve', () => {
  it('ends nothing before its warm-up (RES-212)', () => {
    expect(decide([9, 9], finished.slice(1))).toBe('continue')
  })

  it('allows the gaps of runs that came near the incumbent, and three deviations more (RES-212)', () => {
    const near = finished.filter(({ loss }) => loss === 0)
    expect(allowedGap(0, near)).toBeCloseTo(allowedGap(0, finished) ?? Number.NaN, 12)
    expect(decide([0.02, null], finished)).toBe('continue')
    expect(decide([9, null], finished)).not.toBe('continue')
    expect(decide([null, 9], finished)).not.toBe('continue')
    expect(decide([null, null], finished)).toBe('continue')
  })

  it('condemns a curve that is no number (RES-212)', () => {
    const broken = curve(1).map((sample) => ({ ...sample, value: Number.NaN }))
    expect(decide(gapsOf(broken), finished)).not.toBe('continue')
  })

  it('lets one in ten of the condemned go on (RES-212)', () => {
    let history = finished
    const decisions = Array.from({ length: 20 }, () => {
      const decision = decide([9, null], history)
      history = [...history, { family, gaps: [9, null], condemned: true, ...(decision === 'audit' && { loss: 3 }) }]
      return decision
    })
    expect(decisions.filter((decision) => decision === 'audit')).toHaveLength(2)
    expect(decisions.slice(0, 10)).toContain('audit')
  })

  it('audits each of the condemned with equal chance (RES-212)', () => {
    const before = (condemned: number): WatchedRun[] => [
      ...finished,
      ...Array.from({ length: condemned }, () => ({ family, gaps: [9], condemned: true })),
    ]
    const audits = Array.from({ length: 10 }, (_, condemned) => {
      const history = before(condemned)
      return Array.from({ length: 400 }, (_, seed) => decide([9], history, seed)).filter((each) => each === 'audit')
        .length
    })
    expect(audits.reduce((sum, count) => sum + count)).toBe(400)
    for (const count of audits) expect(Math.abs(count - 40)).toBeLessThan(4 * 6) // binomial: sd 6
  })

  it('judges a run by its own family, and not at all before enough of that came near (RES-212)', () => {
    const stranger = (history: readonly WatchedRun[]) => decideCurve({ gaps: [9, 9], family: 'depth' }, history, 1)
    expect(stranger(finished)).toBe('continue')
    const kin = (count: number): WatchedRun[] =>
      Array.from({ length: count }, (_, i) => ({ family: 'depth', gaps: [0.01 * i, 0], loss: 0, condemned: false }))
    expect(stranger([...finished, ...kin(leastOfFamily - 1)])).toBe('continue')
    expect(stranger([...finished, ...kin(leastOfFamily)])).not.toBe('continue')
    // Slow starters that win are no reason to wait for others.
    const slow = kin(leastOfFamily).map((run) => ({ ...run, gaps: [20, 20], loss: -2 }))
    expect(decide([9, null], [...finished, ...slow])).not.toBe('continue')
  })

  it('learns from audits that late bloomers are good, and tells what it cost (RES-212)', () => {
    // Schedules with a cool-down: far behind at half of the time, better at the end.
    const random = draws('late bloomers')
    let history = finished
    let killed = 0
    for (let i = 0; i < 200; i++) {
      const gaps = [1 + 0.1 * random.normal(), 1 + 0.1 * random.normal()]
      const decision = decide(gaps, history)
      killed += Number(decision === 'kill')
      history = [
        ...history,
        { family, gaps, condemned: decision !== 'continue', ...(decision !== 'kill' && { loss: -2 }) },
      ]
    }
    const { regret, wrong, audited } = curveRegret(history)
    expect(wrong).toBe(audited)
    expect(regret).toBe(2)
    expect(killed).toBeLessThan(60)
    expect(decide([1, 1], history)).toBe('continue')
  })

  it('counts what it did (RES-212)', () => {
    const history: WatchedRun[] = [
      { family, gaps: [9], condemned: true },
      { family, gaps: [9], condemned: true, loss: 3 },
      { family, gaps: [9], condemned: true, loss: -1 },
      { family, gaps: [0], condemned: false, loss: 0 },
    ]
    expect(curveRegret(history)).toEqual({ killed: 1, audited: 2, wrong: 1, regret: 0.5 })
    expect(curveRegret([])).toEqual({ killed: 0, audited: 0, wrong: 0, regret: 0 })
  })
})
