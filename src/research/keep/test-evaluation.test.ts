import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draws } from '../../../tests/keyed-draws.ts'
import { scaled } from '../../../tests/scale.ts'
import type { Direction } from '../../contracts/index.ts'
import {
  claimLevel,
  mostTestEvaluations,
  nextLevel,
  planTestEvaluation,
  releasedGain,
  reportedGain,
  stepTestEvaluation,
  type TestEvaluationRecord,
  type TestEvaluationScores,
  testEvaluationDue,
  testEvaluationsLeft,
} from './test-evaluation.ts'

const plan = (more: Partial<Parameters<typeof planTestEvaluation>[0]> = {}) =>
  planTestEvaluation({
    reason: 'end',
    champion: 'a7',
    keeps: 2,
    evaluations: [],
    seeds: 5,
    sessionSeed: 1,
    used: [1, 2, 3],
    ...more,
  })

const scoresOf = (
  seeds: readonly number[],
  gains: readonly (number | null)[],
  direction: Direction = 'max',
  kind: 'fresh' | 'none' = 'fresh',
): TestEvaluationScores => {
  const known = kind === 'fresh' ? { items: kind } : {}
  return {
    direction,
    metric: 'val_bpb',
    champion: seeds.map((seed, i) => {
      const gain = gains[i] ?? null
      return { seed, value: gain === null ? null : 2 + (direction === 'max' ? gain : -gain), ...known }
    }),
    baseline: seeds.map((seed) => ({ seed, value: 2, ...known })),
  }
}

const record = (more: Partial<TestEvaluationRecord>): TestEvaluationRecord => ({
  number: 1,
  reason: 'milestone',
  champion: 'a1',
  keeps: 5,
  level: 0.01,
  p: 0.5,
  better: more.confirmed ?? false,
  confirmed: false,
  words: '',
  ...more,
})

const good = [1, 1.2, 0.8, 1.1, 0.9]

describe('planTestEvaluation', () => {
  it('draws deciding and reporting seeds that nothing was run on (RES-207)', () => {
    const first = plan()
    const seeds = [...first.decide, ...first.report]
    expect([first.decide.length, first.report.length]).toEqual([5, 5])
    expect(new Set(seeds).size).toBe(10)
    expect(plan()).toEqual(first)
    const next = plan({ evaluations: [record({})], used: seeds })
    expect([first.number, next.number]).toEqual([1, 2])
    expect([...next.decide, ...next.report].filter((seed) => seeds.includes(seed))).toEqual([])
  })
})

describe('stepTestEvaluation', () => {
  const evaluation = plan()

  it('asks for the first seeds, then for the others, and concludes by all of them (RES-207)', () => {
    expect(stepTestEvaluation(evaluation, scoresOf([], []))).toEqual({ action: 'run', seeds: evaluation.decide })
    expect(stepTestEvaluation(evaluation, scoresOf(evaluation.decide, good))).toEqual({
      action: 'run',
      seeds: evaluation.report,
    })
    const all = [...evaluation.decide, ...evaluation.report]
    const step = stepTestEvaluation(evaluation, scoresOf(all, [...good, 0.1, 0.2, 0.3, 0.2, 0.2], 'min'))
    if (step.action !== 'conclude') throw new Error('not concluded')
    expect(step.record).toMatchObject({ confirmed: true, champion: 'a7', number: 1 })
    expect(step.record.reported).toMatchObject({ gain: expect.closeTo(0.6, 12), n: 10, confidence: 0.925 })
    expect(step.record.reported?.probability_better).toBeGreaterThan(0.85)
    expect(step.record.words).toBe(
      'Confirmed on 10 new seeds, new items each, hidden test set: val_bpb -0.60 ± 0.28 against the baseline (93 % interval); -0.60 when shrunken for having passed.',
    )
  })

  it('spares the later seeds of a test evaluation that is hopeless before the end, and not at the end (RES-207)', () => {
    const bad = [1, -1, 1, -1, 0]
    const milestone = plan({ reason: 'milestone' })
    const step = stepTestEvaluation(milestone, scoresOf(milestone.decide, bad))
    if (step.action !== 'conclude') throw new Error('not concluded')
    expect(step.record).toMatchObject({ confirmed: false, words: 'Not confirmed on 5 new seeds, hidden test set.' })
    expect(step.record.reported).toBeUndefined()
    expect(stepTestEvaluation(evaluation, scoresOf(evaluation.decide, bad)).action).toBe('run')
  })

  it('of trainings ends with its first seeds where they suffice, by half of its level; else all decide by the other half (RES-595)', () => {
    const early = plan({ seeds: 3, early: true })
    const first = stepTestEvaluation(early, scoresOf(early.decide, good.slice(0, 3)))
    expect(first).toMatchObject({
      action: 'conclude',
      record: {
        confirmed: true,
        seeds: early.decide,
        level: early.level,
        reported: { n: 3, confidence: 1 - early.level },
      },
    })
    const all = [...early.decide, ...early.report]
    const unsure = [0.5, -0.2, 0.4]
    expect(stepTestEvaluation(early, scoresOf(early.decide, unsure))).toEqual({ action: 'run', seeds: early.report })
    const last = stepTestEvaluation(early, scoresOf(all, [...unsure, 0.3, 0.4, 0.2]))
    expect(last).toMatchObject({
      action: 'conclude',
      record: { seeds: all, reported: { n: 6, confidence: 1 - early.level } },
    })
    // No cap has room for more: what there is decides.
    const cut = stepTestEvaluation(early, { ...scoresOf(early.decide, unsure), noMore: true })
    expect(cut).toMatchObject({ action: 'conclude', record: { confirmed: false, seeds: early.decide } })
  })

  it('of trainings confirms what is no better no more often than its level says (RES-595)', () => {
    const times = scaled(4000)
    const draw = draws('early', 1)
    let confirmed = 0
    let level = 0
    for (let i = 0; i < times; i++) {
      const early = plan({ seeds: 3, early: true })
      level = early.level
      const gains = Array.from({ length: 6 }, () => draw.normal())
      const all = [...early.decide, ...early.report]
      const first = stepTestEvaluation(early, scoresOf(early.decide, gains.slice(0, 3)))
      const step = first.action === 'conclude' ? first : stepTestEvaluation(early, scoresOf(all, gains))
      if (step.action === 'conclude' && step.record.better) confirmed += 1
    }
    expect(confirmed / times).toBeLessThanOrEqual(level + 3 * Math.sqrt(level / times))
  })

  it('never confirms a champion that failed on a deciding seed, or one of too few pairs (RES-207)', () => {
    fc.assert(
      fc.property(fc.nat(4), fc.constantFrom(null, Number.NaN, Number.POSITIVE_INFINITY), (at, value) => {
        const milestone = plan({ reason: 'milestone' })
        const gains = good.map((gain, i) => (i === at ? value : gain))
        const step = stepTestEvaluation(milestone, scoresOf(milestone.decide, gains))
        expect(step).toMatchObject({ action: 'conclude', record: { confirmed: false, p: 1 } })
      }),
    )
  })

  it('does without the pairs of two seeds that the baseline lost, and of no more, nor with fewer than three (RES-207)', () => {
    const confirms = (seeds: number, lost: number) => {
      const milestone = plan({ reason: 'milestone', seeds })
      const scores = scoresOf(
        milestone.decide,
        milestone.decide.map((_, i) => 1 + i / 1000),
      )
      const baseline = scores.baseline.map((result, i) => (i < lost ? { ...result, value: null } : result))
      const step = stepTestEvaluation(milestone, { ...scores, baseline })
      if (step.action === 'conclude') expect(step.record).toMatchObject({ confirmed: false, p: 1 })
      return step.action === 'run' // the seeds that report
    }
    expect([confirms(5, 2), confirms(5, 3)]).toEqual([true, false])
    expect([confirms(7, 2), confirms(7, 3)]).toEqual([true, false])
    expect([confirms(4, 1), confirms(4, 2)]).toEqual([true, false])
  })

  it('asks for the seeds that only one of the two has run (RES-207)', () => {
    const scores = scoresOf(evaluation.decide, good)
    const [first = 0, second = 0, ...rest] = evaluation.decide
    const champion = scores.champion.filter(({ seed }) => seed !== first)
    const baseline = scores.baseline.filter(({ seed }) => seed !== second)
    expect(rest).toHaveLength(3)
    expect(stepTestEvaluation(evaluation, { ...scores, champion, baseline })).toEqual({
      action: 'run',
      seeds: [first, second],
    })
  })

  it('takes gains without any spread for one observation, on which nothing is confirmed (RES-207, USE-21)', () => {
    const milestone = plan({ reason: 'milestone' })
    const step = (gain: number) =>
      stepTestEvaluation(
        milestone,
        scoresOf(
          milestone.decide,
          milestone.decide.map(() => gain),
        ),
      )
    for (const gain of [0.5, 0, -0.5]) expect(step(gain)).toMatchObject({ record: { confirmed: false, p: 1 } })
    expect(step(0.5)).toMatchObject({ record: { words: expect.stringContaining('its seeds do not differ') } })
  })

  it('confirms exactly where the interval that is printed is above zero (USE-20)', () => {
    const gains = fc.array(fc.double({ min: -1, max: 3, noNaN: true }), { minLength: 10, maxLength: 10 })
    const reason = fc.constantFrom('end' as const, 'milestone' as const, 'request' as const)
    const direction = fc.constantFrom('min' as const, 'max' as const)
    fc.assert(
      fc.property(gains, reason, direction, (all, why, smaller) => {
        const planned = plan({ reason: why })
        const step = stepTestEvaluation(planned, scoresOf([...planned.decide, ...planned.report], all, smaller))
        if (step.action !== 'conclude') throw new Error('not concluded')
        const { confirmed, reported, p, words } = step.record
        expect(confirmed).toBe((reported?.interval?.lower ?? 0) > 0)
        if (reported !== undefined) expect(confirmed).toBe(p < planned.level)
        expect(words.startsWith('Confirmed')).toBe(confirmed)
      }),
    )
  })

  it('calls a gain of scores without items better on these items, and never confirmed (USE-140)', () => {
    const seeds = [...evaluation.decide, ...evaluation.report]
    const step = stepTestEvaluation(evaluation, scoresOf(seeds, [...good, 0.1, 0.2, 0.3, 0.2, 0.2], 'max', 'none'))
    if (step.action !== 'conclude') throw new Error('not concluded')
    expect(step.record).toMatchObject({ better: true, confirmed: false })
    expect(step.record.words).toBe(
      'Better on these items on 10 new seeds, hidden test set: val_bpb +0.60 ± 0.28 against the baseline (93 % interval over seeds alone; the scorer gives no outcomes by item, so what other items would show is not covered); +0.60 when shrunken for having passed.',
    )
    // It is not evaluated again for that, and its level is free for another.
    const state = { champion: 'a7', baseline: 'a0', keeps: 9, evaluations: [step.record], requested: false }
    expect(testEvaluationDue({ ...state, ending: true })).toBeUndefined()
    expect(nextLevel([step.record], 'end')).toBe(nextLevel([], 'end'))
  })

  it('confirms no gain that the number of items cannot carry, however little seeds differ (USE-21)', () => {
    // 107 against 105 right of 118, on every seed: what was called "confirmed +0.0156 ± 0.0025".
    const seeds = [...evaluation.decide, ...evaluation.report]
    const conclude = (more: number, fewer: number, flip = false) => {
      const before = Array.from({ length: 118 }, (_, i) => Number(i >= 13))
      const after = before.map((value, i) => (i < more ? 1 : i >= 118 - fewer ? 0 : value))
      const result = (seed: number, items: readonly number[]) => ({ seed, value: share(items), items })
      const jittered = (items: readonly number[], i: number) =>
        flip ? items.map((value, at) => (at === 50 + i ? 1 - value : value)) : items
      const step = stepTestEvaluation(evaluation, {
        direction: 'max',
        metric: 'accuracy',
        champion: seeds.map((seed, i) => result(seed, jittered(after, i))),
        baseline: seeds.map((seed) => result(seed, before)),
      })
      if (step.action !== 'conclude') throw new Error('not concluded')
      return step.record
    }
    const share = (items: readonly number[]) => items.reduce((sum, each) => sum + each, 0) / items.length
    for (const flip of [false, true]) {
      const small = conclude(3, 1, flip)
      expect(small).toMatchObject({ confirmed: false, reported: { items: 118, n: 10 } })
      expect(small.reported?.interval?.lower).toBeLessThan(0)
      expect(conclude(12, 1, flip).confirmed).toBe(true)
    }
    expect(conclude(3, 1).words).toMatch(
      /^Not confirmed on 10 new seeds, hidden test set of 118 items: accuracy \+0.017 ± 0.0\d+ against the baseline \(93 % interval\)\.$/,
    )
    expect(conclude(0, 0)).toMatchObject({ confirmed: false, p: 1 })
  })

  it('says the same where smaller is better (RES-207)', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: 10, maxLength: 10 }), (gains) => {
        const seeds = [...evaluation.decide, ...evaluation.report]
        const [up, down] = (['max', 'min'] as const).map((direction) =>
          stepTestEvaluation(evaluation, scoresOf(seeds, gains, direction)),
        )
        if (up?.action !== 'conclude' || down?.action !== 'conclude') throw new Error('not concluded')
        expect(down.record.p).toBeCloseTo(up.record.p, 6)
        expect(down.record.reported?.gain).toBeCloseTo(up.record.reported?.gain ?? Number.NaN, 9)
      }),
    )
  })

  it('confirms gains of one, two and three sigma in these shares (RES-216)', () => {
    const random = draws('power of a look')
    const shares = [1, 2, 3].map((gain) => {
      let confirmed = 0
      const n = scaled(300)
      for (let i = 0; i < n; i++) {
        const seeds = [...evaluation.decide, ...evaluation.report]
        const gains = seeds.map(() => gain + random.normal())
        const step = stepTestEvaluation({ ...evaluation, reason: 'milestone' }, scoresOf(seeds, gains))
        confirmed += Number(step.action === 'conclude' && step.record.confirmed)
      }
      return confirmed / n
    })
    expect(shares[0]).toBeGreaterThan(0.7)
    expect(shares[1]).toBeGreaterThan(0.95)
    expect(shares[2]).toBeGreaterThan(0.98)
  })
})

describe('test evaluations', () => {
  const state = { champion: 'a9', baseline: 'a0', keeps: 5, evaluations: [], ending: false, requested: false }

  it('are due every five keeps, at the end, and on request; never of the baseline or of what is confirmed (RES-208)', () => {
    expect(testEvaluationDue(state)).toBe('milestone')
    expect(testEvaluationDue({ ...state, keeps: 4 })).toBeUndefined()
    expect(testEvaluationDue({ ...state, keeps: 1, requested: true })).toBe('request')
    expect(testEvaluationDue({ ...state, keeps: 1, ending: true })).toBe('end')
    expect(testEvaluationDue({ ...state, champion: 'a0', ending: true })).toBeUndefined()
    expect(
      testEvaluationDue({ ...state, ending: true, evaluations: [record({ champion: 'a9', confirmed: true })] }),
    ).toBeUndefined()
    expect(testEvaluationDue({ ...state, keeps: 9, evaluations: [record({ keeps: 5 })] })).toBeUndefined()
    expect(testEvaluationDue({ ...state, keeps: 10, evaluations: [record({ keeps: 5 })] })).toBe('milestone')
    expect(testEvaluationDue({ ...state, keeps: 2, every: 2 })).toBe('milestone')
    expect(testEvaluationDue({ ...state, keeps: 50, every: 0 })).toBeUndefined()
    expect(testEvaluationDue({ ...state, keeps: 50, every: 0, ending: true })).toBe('end')
  })

  it('are few, and the last is kept for the end (RES-208)', () => {
    const evaluations = Array.from({ length: mostTestEvaluations - 1 }, (_, i) => record({ number: i + 1, keeps: 0 }))
    expect(testEvaluationsLeft(evaluations)).toBe(0)
    expect(testEvaluationDue({ ...state, evaluations, requested: true })).toBeUndefined()
    expect(testEvaluationDue({ ...state, evaluations, ending: true })).toBe('end')
    const all = [...evaluations, record({ number: mostTestEvaluations, keeps: 0 })]
    expect(testEvaluationDue({ ...state, evaluations: all, ending: true })).toBeUndefined()
    expect(testEvaluationsLeft([])).toBe(mostTestEvaluations - 1)
  })

  it('are due again of a champion that was not confirmed, or when another was (RES-208)', () => {
    for (const before of [record({ champion: 'a9' }), record({ champion: 'a5', confirmed: true })]) {
      expect(testEvaluationDue({ ...state, ending: true, evaluations: [before] })).toBe('end')
    }
  })

  it('spend no more than one chance of being wrong together, and get it back when they confirm (RES-208)', () => {
    const reasons = fc.array(fc.constantFrom('milestone' as const, 'request' as const, 'end' as const), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(reasons, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), (all, outcomes) => {
        const evaluations: TestEvaluationRecord[] = []
        for (const [i, reason] of all.entries()) {
          const level = nextLevel(evaluations, reason)
          evaluations.push(record({ number: i + 1, reason, level, confirmed: outcomes[i] ?? false }))
          const lost = evaluations.reduce((sum, evaluation) => sum + (evaluation.confirmed ? 0 : evaluation.level), 0)
          expect(level).toBeGreaterThan(0)
          expect(lost).toBeLessThanOrEqual(claimLevel)
        }
      }),
    )
    const failed = nextLevel([record({ level: nextLevel([], 'milestone') })], 'end')
    const confirmed = nextLevel([record({ level: nextLevel([], 'milestone'), confirmed: true })], 'end')
    expect(confirmed).toBe(nextLevel([], 'end'))
    expect(failed).toBeLessThan(confirmed)
  })

  it('tell the search of a gain only when it is above the last by a step (RES-209)', () => {
    const evaluation = (gain: number, confirmed = true) =>
      record({ confirmed, reported: { gain, n: 5, interval: { lower: gain - 0.2, upper: gain + 0.2 } } })
    expect(releasedGain([])).toBeUndefined()
    expect(releasedGain([evaluation(1, false)])).toBeUndefined()
    expect(releasedGain([evaluation(1), evaluation(1.09)])).toBe(1)
    expect(releasedGain([evaluation(1), evaluation(1.11)])).toBe(1.11)
    expect(releasedGain([evaluation(1), evaluation(1.2), evaluation(0.5)])).toBe(1.2)
  })
})

describe('reportedGain', () => {
  it('has no interval from one pair, and none without any (RES-207)', () => {
    expect(reportedGain([])).toBeUndefined()
    expect(reportedGain([2])).toEqual({ gain: 2, n: 1 })
    expect(reportedGain([2, 2])).toEqual({ gain: 2, n: 2, probability_better: 1 })
    expect(reportedGain([-2, -2])).toMatchObject({ probability_better: 0 })
    expect(reportedGain([0, 0])).toMatchObject({ probability_better: 0.5 })
  })

  it('says how likely one more pair is better by the spread of one pair and the error of the mean (RES-207)', () => {
    // Student t of 2 degrees of freedom has F(t) = 1/2 + t / (2 sqrt(2 + t^2)), and t = 2 / (sqrt(1/3) sqrt(4)) = sqrt(3).
    expect(reportedGain([1, 2, 3])?.probability_better).toBeCloseTo(0.5 + Math.sqrt(3) / (2 * Math.sqrt(5)), 12)
  })
})
