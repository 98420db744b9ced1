import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import { scaled } from '../../../tests/scale.ts'
import { assessControl, controlDue } from './control-runs.ts'
import { openNoise, sessionNoise } from './session-noise.ts'

const results = (values: readonly number[]) => values.map((value, seed) => ({ seed, value }))
const incumbent = results([1, 2, 3, 2, 2])
const noise = sessionNoise(incumbent, [], [], [results([1, 2, 3]), results([1, 2, 3]), results([1, 2, 3])])

describe('controlDue', () => {
  it('is after fifteen experiments, or two hours with any (RES-210)', () => {
    expect(controlDue({ experiments: 14, experimentsAtLast: 0 })).toBe(false)
    expect(controlDue({ experiments: 15, experimentsAtLast: 0 })).toBe(true)
    expect(controlDue({ experiments: 20, experimentsAtLast: 10 })).toBe(false)
    expect(controlDue({ experiments: 11, experimentsAtLast: 10, secondsSinceLast: 7200 })).toBe(true)
    expect(controlDue({ experiments: 10, experimentsAtLast: 10, secondsSinceLast: 7200 })).toBe(false)
  })

  it('counts from the last keep, which brought a fresh seed too; 0 is never (RES-221)', () => {
    expect(controlDue({ experiments: 20, experimentsAtLast: 0, sinceKeep: 14 })).toBe(false)
    expect(controlDue({ experiments: 21, experimentsAtLast: 0, sinceKeep: 15 })).toBe(true)
    expect(controlDue({ experiments: 21, experimentsAtLast: 8, sinceKeep: 18 })).toBe(false)
    expect(controlDue({ experiments: 4, experimentsAtLast: 0, every: 4 })).toBe(true)
    expect(controlDue({ experiments: 99, experimentsAtLast: 0, every: 0, secondsSinceLast: 7200 })).toBe(false)
  })
})

describe('judgeControl', () => {
  it.each([
    [2, false],
    [4, false],
    [8, true],
    [-4, true],
  ])('a control of %d among scores around 2: drift is %s (RES-210)', (control, drift) => {
    expect(assessControl({ control, incumbent, noise }).drift).toBe(drift)
  })

  it('tells how far it lies, and that comparisons pause (RES-210)', () => {
    expect(assessControl({ control: 8, incumbent, noise }).words).toMatch(
      /^Drift: .* sigma above its mean \(limit \d\.\d\)\. Comparisons pause/,
    )
  })

  it('measures in standard deviations of a score less the mean of the others (RES-210)', () => {
    const one = noise.seedSd * Math.sqrt(1 + 1 / 5)
    for (const [control, words] of [
      [2 + 2 * one, /^Control: .* 2\.0 sigma above its mean/],
      [2 - 2 * one, /^Control: .* 2\.0 sigma below its mean/],
    ] as const) {
      const verdict = assessControl({ control, incumbent, noise })
      expect(verdict.deviation).toBeCloseTo((control - 2) / one, 12)
      expect(verdict.words).toMatch(words)
    }
    expect(assessControl({ control: 8, incumbent: [], noise })).toMatchObject({ drift: false, deviation: 0 })
  })

  it('takes a control that failed, or gave no number, for drift (RES-210)', () => {
    expect(assessControl({ control: null, incumbent, noise }).drift).toBe(true)
    expect(assessControl({ control: Number.NaN, incumbent, noise }).drift).toBe(true)
  })

  it('is rarely wrong, also where five seeds are all that is known (RES-210)', () => {
    const random = draws('controls')
    const n = scaled(1000)
    let alarms = 0
    for (let i = 0; i < n; i++) {
      const scores = results(Array.from({ length: 5 }, () => random.normal()))
      alarms += Number(assessControl({ control: random.normal(), incumbent: scores, noise: openNoise(scores) }).drift)
    }
    expect(alarms / n).toBeLessThan(0.008) // 0.27 %, as of 3 sigma
  })
})
