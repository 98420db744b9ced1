import { describe, expect, it } from 'vitest'
import { samplePlan } from '../../../tests/sample-plan.ts'
import type { EvalRow, PairEvidence, Plan, RunRow, TrainingRunRow } from '../../contracts/index.ts'
import { conclusionLines, conclusionText, number } from './conclusion-text.ts'
import { metricOf, stoppedRuns } from './evidence-of.ts'
import { measureForgetting, type RecordedRun, weighEvidence } from './weigh-evidence.ts'

const seeds = [1, 2, 3, 4]
const sample = samplePlan({ seeds })
const objective = { benchmark: 'val', metric: 'pass@1', direction: 'max' as const }

function planOf(claim?: { min_effect: number; direction?: 'max' | 'min' }): Plan {
  const pairs = [{ treatment: 'new', baseline: 'old' }]
  const whole = { benchmark: 'val', metric: 'pass@1', direction: 'max' as const, pairs, confidence: 0.9, ...claim }
  return {
    ...sample,
    objective: { ...objective, direction: claim?.direction ?? 'max' },
    arms: ['old', 'new'].map((name) => ({ name, params: {}, seeds })),
    ...(claim === undefined ? {} : { claim: { ...whole, min_effect: claim.min_effect } }),
  }
}

/** Runs of an arm, one per seed: the share of ten tasks that was answered right. */
function arm(name: string, right: readonly number[], more: Partial<TrainingRunRow> = {}): RecordedRun[] {
  return right.map((count, i) => {
    const [planned] = sample.runs
    if (planned === undefined) throw new Error('the sample has no run')
    const seed = i + 1
    const ids = { id: `${name}-${seed}`, name: `${name}-${seed}`, arm: name, experimentId: 'exp', configHash: name }
    const run: RunRow = {
      ...ids,
      kind: 'training',
      seed,
      config: planned.config,
      status: 'completed',
      attempt: 1,
      metrics: {},
      ...more,
    }
    // Which tasks are right differs from seed to seed, so that differences vary.
    const rewards = Object.fromEntries(
      Array.from({ length: 10 }, (_, task) => [`t${task}`, [(task * 7 + i * 3) % 10 < count ? 1 : 0]]),
    )
    const score: EvalRow = {
      benchmark: 'val',
      split: 'val',
      metrics: { 'pass@1': count / 10 },
      nTasks: 10,
      nInfraFailed: 0,
      scorerHash: 'h',
      rewards,
    }
    return { run, evals: run.status === 'completed' ? [score] : [] }
  })
}

/** The same runs with something else in each evaluation. */
const rescored = (
  runs: readonly RecordedRun[],
  change: (score: EvalRow, i: number) => Partial<EvalRow>,
): RecordedRun[] =>
  runs.map(({ run, evals }, i) => ({ run, evals: evals.map((score) => ({ ...score, ...change(score, i) })) }))

/** A claim of several treatments, each against `old`. */
function planOfArms(treatments: readonly string[], claim: { min_effect: number; confidence?: number }): Plan {
  const plan = planOf(claim)
  if (plan.claim === undefined) throw new Error('there is a claim')
  return {
    ...plan,
    arms: ['old', ...treatments].map((name) => ({ name, params: {}, seeds })),
    claim: { ...plan.claim, ...claim, pairs: treatments.map((treatment) => ({ treatment, baseline: 'old' })) },
  }
}

const weigh = (plan: Plan, runs: readonly RecordedRun[]) => weighEvidence({ plan, runs, metricOf })

describe('a budget that is used up', () => {
  it('is named in the conclusion with the runs that it ended (USE-252)', () => {
    const error = { code: 'BUDGET_EXCEEDED' as const, message: 'budget.usd is 1, and 1.2 are used' }
    const runs = [...arm('old', [2, 3]), ...arm('new', [7, 9], { status: 'stopped', error })]
    const text = conclusionText(weigh(planOf(), runs), { stopped: stoppedRuns(runs.map(({ run }) => run)) })
    expect(text).toContain('Stopped by the budget before the end of 2 runs: budget.usd is 1, and 1.2 are used.')
  })
})

describe('several claims', () => {
  it('are judged together by Holm, in words and numbers (USE-250)', () => {
    const plan = planOf({ min_effect: 0 })
    if (plan.claim === undefined) throw new Error('there is a claim')
    const claims = [plan.claim, { ...plan.claim, benchmark: 'newer' }, { ...plan.claim, benchmark: 'absent' }]
    const onBoth = (runs: readonly RecordedRun[]) =>
      runs.map(({ run, evals }) => ({
        run,
        evals: evals.flatMap((each) => [each, { ...each, benchmark: 'newer', split: 'test' as const }]),
      }))
    const runs = onBoth([...arm('old', [2, 3, 2, 3]), ...arm('new', [7, 9, 8, 8])])
    const alone = weigh(plan, runs).claim
    const evidence = weigh({ ...plan, claims }, runs)
    const [first, second, third] = evidence.claims ?? []
    expect(third).toBeNull()
    expect(first?.p_adjusted).toBeCloseTo(2 * (first?.p ?? Number.NaN), 12)
    expect(second?.benchmark).toBe('newer')
    // Judged with others, a claim needs more: its interval is wider than alone.
    expect(first?.overall.interval?.[0]).toBeLessThan(alone?.overall.interval?.[0] ?? Number.NaN)
    expect(evidence.claim).toEqual(first)
    expect(evidence.verdict).toBe('inconclusive')
    const text = conclusionText(evidence)
    expect(text).toContain('of 3 claims 2 supported, 1 inconclusive (Holm over all of them)')
    expect(text).toMatch(/Claim 2: Supported: new against old is .* on newer\.pass@1 .*; p .*, adjusted .*\)/)
    expect(weigh({ ...plan, claims: claims.slice(0, 2) }, runs).verdict).toBe('supported')
  })
})

describe('evidence', () => {
  const [low, high] = [arm('old', [2, 3, 2, 3]), arm('new', [7, 9, 8, 8])]

  it('gives an interval to seeds that all agree: of right answers by their share, of other rewards by their spread (LAB-33)', () => {
    const intervalOf = (runs: readonly RecordedRun[]) => weigh(planOf(), runs).arms.map(({ score }) => score?.ci)
    const [none, all] = intervalOf([...arm('old', [0, 0, 0, 0]), ...arm('new', [10, 10, 10, 10])])
    expect(none).toEqual([0, expect.closeTo(0.213, 3)])
    expect(all).toEqual([expect.closeTo(0.787, 3), 1])
    const graded = (rewards: Record<string, number[]>) => {
      const runs = rescored(arm('new', [5, 5]), () => ({ rewards, metrics: { mean_reward: 0.5 } }))
      return weigh({ ...planOf(), objective: { ...objective, metric: 'mean_reward' } }, runs).arms[1]?.score?.ci
    }
    expect(graded({ t0: [0.49], t1: [0.51] })).toEqual([expect.closeTo(0.437, 3), expect.closeTo(0.563, 3)])
    for (const unknown of [{ t0: [0.5] }, { t0: [0.5], t1: [0.5] }, { t0: [0.1], t1: [0.2] }])
      expect(graded(unknown)).toBeNull()
  })

  it('supports a claim whose interval lies above what was claimed (LAB-33)', () => {
    const evidence = weigh(planOf({ min_effect: 0.1 }), [...low, ...high])
    expect(evidence).toMatchObject({ verdict: 'supported', best_arm: 'new', chosen_among: 2, n_completed: 8 })
    const { effect = 0, interval } = evidence.claim?.overall ?? {}
    expect(effect).toBeCloseTo(0.55, 12)
    expect(interval?.[0]).toBeGreaterThan(0.1)
    expect(interval?.[1]).toBeGreaterThan(effect)
  })

  it('refutes a claim whose interval lies below it, and leaves open one that it covers (LAB-33)', () => {
    expect(weigh(planOf({ min_effect: 0.9 }), [...low, ...high]).verdict).toBe('refuted')
    const { effect = 0 } = weigh(planOf({ min_effect: 0 }), [...low, ...high]).claim?.overall ?? {}
    expect(weigh(planOf({ min_effect: effect }), [...low, ...high]).verdict).toBe('inconclusive')
  })

  it('of a research session is as its test evaluation decided it, on the seeds of that alone (RES-593)', () => {
    const plan = planOf({ min_effect: 0 })
    type Decided = NonNullable<NonNullable<Plan['claim']>['decided']>
    const interval: [number, number] = [0.21, 0.39]
    const decided: Decided = { seeds: [1, 2, 3], effect: 0.3, interval, verdict: 'supported', reason: 'Confirmed.' }
    const runs = [...arm('old', [3, 4, 3, 9]), ...arm('new', [7, 6, 7, 1])]
    const weighed = (more: Partial<Decided>) =>
      weigh({ ...plan, claim: plan.claim && { ...plan.claim, decided: { ...decided, ...more } } }, runs)
    const { verdict, claim } = weighed({})
    expect(verdict).toBe('supported')
    expect(claim?.overall).toMatchObject({ effect: 0.3, interval, n_seeds: 3, reason: 'Confirmed.' })
    expect(weighed({ verdict: 'inconclusive' }).verdict).toBe('inconclusive')
  })

  it('turns round where less is better (LAB-33)', () => {
    const evidence = weigh(planOf({ min_effect: 0, direction: 'min' }), [...low, ...high])
    expect(evidence).toMatchObject({ verdict: 'refuted', best_arm: 'old' })
    expect(evidence.claim?.overall.effect).toBeCloseTo(-0.55, 12)
  })

  it('is exploratory without a claim, whatever the scores, and failed without a run (LAB-33)', () => {
    expect(weigh(planOf(), [...low, ...high])).toMatchObject({ verdict: 'exploratory', claim: null })
    const error = { code: 'WORKER_DIED' as const, message: 'gone' }
    const failed = weigh(planOf({ min_effect: 0 }), arm('old', [1, 1], { status: 'failed', error }))
    expect(failed).toMatchObject({ verdict: 'failed', best_arm: null, n_completed: 0 })
    expect(failed.arms[0]).toMatchObject({ status: 'failed', score: null, n_failed: 2, error })
  })

  it('never supports anything on one seed, nor on arms without a seed in common (LAB-33)', () => {
    const one = weigh(planOf({ min_effect: 0 }), [...arm('old', [1]), ...arm('new', [9])])
    expect(one).toMatchObject({ verdict: 'inconclusive', claim: { overall: { reason: 'one_seed' } } })
    const apart = weigh(planOf({ min_effect: 0 }), [...low.slice(0, 2), ...high.slice(2)])
    expect(apart).toMatchObject({ verdict: 'inconclusive', claim: null })
  })

  it('leaves out runs that were marked invalid, and counts them (LAB-33)', () => {
    const [first, ...rest] = arm('new', [0, 9, 8, 8])
    if (first === undefined) throw new Error('there is a first run')
    const bad = { ...first, run: { ...first.run, invalid: 'wrong data' } }
    const evidence = weigh(planOf(), [...low, bad, ...rest])
    expect(evidence).toMatchObject({ n_invalid: 1, n_completed: 7 })
    expect(evidence.arms[1]?.score).toMatchObject({ n: 3 })
  })

  it('of a chain is that of its last stage (LAB-33)', () => {
    const stages = [...arm('new', [1, 1], { stage: 0 }), ...arm('new', [8, 8], { stage: 1 })]
    const [, chained] = weigh(planOf(), stages).arms
    expect(chained?.by_seed.map(({ value }) => value)).toEqual([0.8, 0.8])
    const claimed = weigh(planOf({ min_effect: 0 }), [...low, ...stages])
    expect(claimed.claim?.overall).toMatchObject({ effect: expect.closeTo(0.55, 12), n_seeds: 2 })
  })

  it('of several treatments is widened by Holm, and that of their average is not (LAB-33)', () => {
    const newer = arm('newer', [4, 3, 5, 4])
    const alone = weigh(planOfArms(['new'], { min_effect: 0 }), [...low, ...high]).claim?.overall
    const both = weigh(planOfArms(['new', 'newer'], { min_effect: 0 }), [...low, ...high, ...newer]).claim
    const [first, second] = both?.pairs ?? []
    expect(first).toMatchObject({ treatment: 'new', baseline: 'old', effect: alone?.effect })
    expect(second).toMatchObject({ treatment: 'newer', baseline: 'old', effect: expect.closeTo(0.15, 12) })
    expect(first?.interval?.[0]).toBeLessThan(alone?.interval?.[0] ?? 0)
    expect(first?.interval?.[1]).toBeGreaterThan(alone?.interval?.[1] ?? 1)
    expect(both?.overall).toMatchObject({ treatment: 'new, newer', baseline: 'old', n_seeds: 8, n_tasks: 10 })
    expect(both?.overall.effect).toBeCloseTo(0.35, 12)
  })

  it('of a claim over several treatments has the verdict of their average, not of the first (LAB-33)', () => {
    const worse = arm('worse', [1, 0, 0, 1])
    const evidence = weigh(planOfArms(['new', 'worse'], { min_effect: 0.1 }), [...low, ...high, ...worse])
    expect(evidence.claim?.pairs.map(({ verdict }) => verdict)).toEqual(['supported', 'refuted'])
    expect(evidence.verdict).toBe(evidence.claim?.overall.verdict)
    expect(evidence.verdict).toBe('inconclusive')
  })

  it('has the confidence that the claim asks for (LAB-33)', () => {
    const widthAt = (confidence: number) => {
      const overall = weigh(planOfArms(['new'], { min_effect: 0, confidence }), [...low, ...high]).claim?.overall
      expect(overall?.confidence).toBe(confidence)
      return (overall?.interval?.[1] ?? 0) - (overall?.interval?.[0] ?? 0)
    }
    expect(widthAt(0.5)).toBeLessThan(widthAt(0.9) * 0.6)
    expect(widthAt(0.99)).toBeGreaterThan(widthAt(0.9) * 1.5)
  })

  it('is over seeds and tasks, and reports these very tasks apart (LAB-33, USE-1)', () => {
    const { interval, seed_interval, over } = weigh(planOf({ min_effect: 0 }), [...low, ...high]).claim?.overall ?? {}
    expect(over).toBe('both')
    expect(interval?.[0]).toBeLessThanOrEqual(seed_interval?.[0] ?? Number.NaN)
    expect(interval?.[1]).toBeGreaterThanOrEqual(seed_interval?.[1] ?? Number.NaN)
  })

  // Seeds agree, while tasks tell: 10 tasks cannot carry a gain that all seeds show.
  it('of any metric is decided by tasks as well as seeds (USE-1)', () => {
    const values = (gain: number, seed: number) =>
      Object.fromEntries(Array.from({ length: 10 }, (_, t) => [`t${t}`, 0.6 + (t < 2 ? 5 * gain : 0) + 0.001 * seed]))
    const f1 = (runs: readonly RecordedRun[], gain: number) =>
      rescored(runs, (_score, i) => ({
        metrics: { 'pass@1': 0.6 + gain + 0.001 * i },
        byTask: { 'pass@1': values(gain, i) },
      }))
    const arms = [...f1(low, 0), ...f1(high, 0.04)]
    const withTasks = weigh(planOf({ min_effect: 0 }), arms)
    expect(withTasks).toMatchObject({ verdict: 'inconclusive', claim: { overall: { n_tasks: 10, over: 'tasks' } } })
    expect(conclusionText(withTasks)).toContain(
      'All seeds gave the same, so the interval covers the chance of tasks alone.',
    )
    const noise = (runs: readonly RecordedRun[], gain: number) =>
      rescored(runs, (_score, i) => ({ metrics: { 'pass@1': 0.6 + gain * (1 + 0.1 * i) }, rewards: undefined }))
    const older = weigh(planOf({ min_effect: 0 }), [...noise(low, 0), ...noise(high, 0.04)])
    expect(older).toMatchObject({ verdict: 'supported', claim: { overall: { n_tasks: null, over: 'seeds' } } })
    expect(conclusionText(older)).toContain(
      'The interval covers the chance of seeds alone: scores of single tasks are not known.',
    )
  })

  it('of one seed has an interval over tasks, and decides nothing (USE-1)', () => {
    const one = weigh(planOf({ min_effect: 0 }), [...arm('old', [3]), ...arm('new', [9])])
    expect(one).toMatchObject({ verdict: 'inconclusive', claim: { overall: { over: 'tasks', seed_interval: null } } })
    expect(one.arms.map(({ score }) => score?.over)).toEqual(['tasks', 'tasks'])
    expect(one.arms[1]?.score?.ci?.[1]).toBeLessThanOrEqual(1)
    expect(conclusionText(one)).toContain('The interval covers the chance of tasks, not of the seed.')
  })

  it('of a share is no effect beyond 1 (USE-2)', () => {
    const { overall } =
      weigh(planOf({ min_effect: 0.5 }), [...arm('old', [0, 0, 1]), ...arm('new', [10, 10, 10])]).claim ?? {}
    expect(overall?.interval?.[1]).toBeLessThanOrEqual(1)
    expect(overall?.seed_interval?.[1]).toBeLessThanOrEqual(1)
  })

  it('calls a tie a tie (USE-3)', () => {
    const same = weigh(planOf({ min_effect: 0 }), [...low, ...arm('new', [2, 3, 2, 3])])
    expect(same).toMatchObject({ verdict: 'inconclusive', best_arm: 'old', tied: ['new'] })
    expect(conclusionText(same)).toContain('new against old is a tie on val.pass@1 (')
    expect(conclusionText(same)).toContain('Tied for best, 2 of 2 arms: old, new with val.pass@1 0.25.')
    expect(conclusionText(same)).not.toContain('The best arm was chosen')
    expect(weigh(planOf(), [...low, ...high]).tied).toBeUndefined()
  })

  it('has a p-value of sign flips only where seeds are enough for a small one (LAB-33)', () => {
    const overall = (n: number) => {
      const right = Array.from({ length: n }, (_, i) => i % 2)
      const runs = [
        ...arm('old', right),
        ...arm(
          'new',
          right.map((count) => 9 - count),
        ),
      ]
      return weigh(planOf({ min_effect: 0 }), runs).claim?.overall
    }
    expect(overall(4)?.p_sign_flip).toBeNull() // 1 of 16 is the smallest
    expect(overall(5)?.p_sign_flip).toBe(1 / 32)
  })

  it('counts no score of a run that did not complete, and no run without the score (LAB-33)', () => {
    const stopped = high.map((each, i) =>
      i === 0 ? { ...each, run: { ...each.run, status: 'stopped' as const } } : each,
    )
    const evidence = weigh(planOf({ min_effect: 0 }), [...low, ...stopped])
    expect(evidence.arms[1]).toMatchObject({ score: { n: 3 }, n_failed: 0 })
    expect(evidence.claim?.overall.n_seeds).toBe(3)
    const unscored = rescored(high, (score, i) => (i === 0 ? { metrics: {}, rewards: undefined } : score))
    const three = weigh(planOf({ min_effect: 0 }), [...low, ...unscored])
    expect(three.arms[1]).toMatchObject({ score: { n: 3 } })
    expect(three.claim?.overall).toMatchObject({ n_seeds: 3, n_tasks: 10 })
  })

  it('never chooses the untrained model, and of equal arms the first (LAB-33)', () => {
    const plan = { ...planOf(), arms: ['base_model', 'old', 'new'].map((name) => ({ name, params: {}, seeds })) }
    const evidence = weigh(plan, [...arm('base_model', [9, 9]), ...arm('old', [5, 6]), ...arm('new', [6, 5])])
    expect(evidence).toMatchObject({ best_arm: 'old', chosen_among: 2 })
  })

  it('counts the test evaluations in the loop, not those after it and not those of validation (LAB-33)', () => {
    const [looked = low[0], ...rest] = low
    if (looked === undefined) throw new Error('there is a run')
    const [score] = looked.evals
    if (score === undefined) throw new Error('there is a score')
    const test = { ...score, benchmark: 'test', split: 'test' as const }
    const evals = [score, { ...score, step: 5 }, { ...test, step: 5 }, { ...test, step: 10 }, test]
    expect(weigh(planOf(), [{ ...looked, evals }, ...rest]).n_test_looks).toBe(2)
    expect(weigh(planOf(), low).n_test_looks).toBe(0)
  })

  it('takes a lost reward for anything from 0 to 1, and leaves a claim open that it could decide (LAB-33)', () => {
    // The last four tasks of each seed of the treatment were lost.
    const lost = rescored(high, ({ rewards = {} }) => ({
      rewards: Object.fromEntries(Object.entries(rewards).map(([task, all], t) => [task, t < 6 ? all : [null]])),
      metrics: {},
      bounds: { 'pass@1': [0, 1] },
    }))
    const { overall } = weigh(planOf({ min_effect: 0.3 }), [...low, ...lost]).claim ?? {}
    expect(overall).toMatchObject({ verdict: 'inconclusive', reason: 'lost_scores', n_tasks: 10 })
    expect((overall?.interval?.[1] ?? 0) - (overall?.interval?.[0] ?? 0)).toBeGreaterThan(0.4)
  })

  it('compares whole scores where the mean over tasks is not the metric (LAB-33)', () => {
    const offset = (runs: readonly RecordedRun[]) =>
      rescored(runs, ({ metrics }) => ({ metrics: { 'pass@1': (metrics['pass@1'] ?? 0) / 2 } }))
    const { overall } = weigh(planOf({ min_effect: 0 }), [...offset(low), ...offset(high)]).claim ?? {}
    expect(overall).toMatchObject({ n_tasks: null, n_seeds: 4, effect: expect.closeTo(0.275, 12) })
  })

  it('compares whole scores where only one arm has scores of tasks, or seeds of it had other tasks (LAB-33)', () => {
    const whole = rescored(low, () => ({ rewards: undefined }))
    const some = rescored(low, (score, i) => (i === 0 ? { rewards: undefined } : score))
    const other = rescored(low, ({ rewards = {} }, i) => {
      const named = Object.entries(rewards).map(([task, all]) => [i === 0 ? `other-${task}` : task, all])
      return { rewards: Object.fromEntries(named) }
    })
    for (const runs of [whole, some, other]) {
      const { overall } = weigh(planOf({ min_effect: 0 }), [...runs, ...high]).claim ?? {}
      expect(overall).toMatchObject({ verdict: 'supported', n_tasks: null, effect: expect.closeTo(0.55, 12) })
    }
    const arms = planOfArms(['new', 'newer'], { min_effect: 0 })
    const newer = rescored(arm('newer', [4, 3, 5, 4]), () => ({ rewards: undefined }))
    const { overall } = weigh(arms, [...low, ...high, ...newer]).claim ?? {}
    expect(overall).toMatchObject({ n_tasks: null, n_seeds: 8, effect: expect.closeTo(0.35, 12) })
  })

  it('gives seeds that agree an interval with room for the rewards that were lost (LAB-33)', () => {
    const lost = (right: number, open: number) => {
      const rewards = Object.fromEntries(
        Array.from({ length: 10 }, (_, t) => [`t${t}`, [t < right ? 1 : t < right + open ? null : 0]]),
      )
      return rescored(arm('new', [5, 5]), () => ({ rewards }))
    }
    const ci = (runs: readonly RecordedRun[]) => weigh(planOf(), runs).arms[1]?.score?.ci ?? [Number.NaN, Number.NaN]
    const [known, open] = [ci(lost(5, 0)), ci(lost(5, 2))]
    expect(open[0]).toBeLessThan(known[0])
    expect(open[1]).toBeGreaterThan(known[1])
  })
})

describe('a conclusion in words', () => {
  const words = (plan: Plan, runs: readonly RecordedRun[]) => conclusionText(weigh(plan, runs))

  it('holds the effect, its interval, what it rests on and what was claimed (LAB-33)', () => {
    const text = words(planOf({ min_effect: 0.1 }), [...arm('old', [2, 3, 2, 3]), ...arm('new', [7, 9, 8, 8])])
    expect(text).toMatch(
      /^Supported: new against old is \+0\.55 on val\.pass@1 \(90 % interval [\d.]+ to [\d.]+ on tasks like these; 4 shared seeds, 10 tasks; more than 0\.1 was claimed\)\./,
    )
    expect(text).toContain(' The difference varies with neither the seed nor the task beyond chance.')
    expect(text).toContain('Best of 2 arms: new with val.pass@1 0.8 (')
    expect(text).toContain('8 of 8 runs completed.')
    expect(text).toContain('confirm it on fresh seeds')
  })

  it('says of seeds and tasks that do not vary what a person would, not 0 and not 4.6e-18 (LAB-33)', () => {
    const evidence = weigh(planOf({ min_effect: 0.1 }), [...arm('old', [2, 3, 2, 3]), ...arm('new', [7, 9, 8, 8])])
    const said = (seed_variance: number | null, task_variance: number | null) => {
      if (evidence.claim === null) throw new Error('there is a claim')
      const overall = { ...evidence.claim.overall, seed_variance, task_variance }
      return conclusionText({ ...evidence, claim: { ...evidence.claim, overall } })
    }
    expect(said(0, 4.6e-18)).toContain(' The difference varies with neither the seed nor the task beyond chance.')
    expect(said(4.6e-18, 0.1852)).toContain(
      ' Variance of the difference: between seeds none to speak of, between tasks 0.1852',
    )
    expect(said(0, null)).toContain(' The difference does not vary with the seed beyond chance.')
    expect(said(0.002, 0)).toContain(' Variance of the difference: between seeds 0.002, between tasks none to speak of')
    expect(said(null, null)).not.toContain('difference varies')
  })

  it('says what would decide it when it is open (LAB-33)', () => {
    expect(words(planOf({ min_effect: 0 }), [...arm('old', [1]), ...arm('new', [9])])).toContain(
      'One seed says nothing about chance: set n_repeats to 3 or more.',
    )
    const open = words(planOf({ min_effect: 0.5 }), [...arm('old', [2, 3, 2, 3]), ...arm('new', [7, 9, 8, 8])])
    expect(open).toMatch(/^Inconclusive: .*(About \d+ more seeds? would decide it|add tasks)/)
  })

  it('names every arm that failed, how often and why, and what was left out (LAB-33)', () => {
    const error = { code: 'BACKEND_FAILED' as const, message: 'no weights' }
    const failed = arm('old', [1, 1], { status: 'failed', error })
    const invalid = arm('new', [5, 5]).map((each, i) => ({
      ...each,
      run: { ...each.run, ...(i === 0 ? { invalid: 'x' } : {}) },
    }))
    const text = words(planOf(), [...failed, ...invalid])
    expect(text).toMatch(/^Exploratory: no claim was declared\./)
    expect(text).toContain('1 of 4 runs completed. old: 2 runs failed (BACKEND_FAILED: no weights).')
    expect(text).toContain('1 run marked invalid and left out.')
  })

  it('of a dry run claims nothing (LAB-33)', () => {
    const evidence = weigh(planOf(), [...arm('old', [8, 8]), ...arm('new', [9, 9])])
    expect(conclusionText(evidence, { isDry: true })).toBe(
      'Dry run: the plan runs. Its runs were cut short, so nothing was tested. 4 of 4 runs completed.',
    )
    const failed = weigh(planOf(), arm('new', [9, 9], { status: 'failed' }))
    expect(conclusionText(failed, { isDry: true })).toBe(
      'Failed: none of the 2 runs of this dry run completed. new: 2 runs failed.',
    )
    expect(conclusionText(failed)).toBe('Failed: none of the 2 runs completed. new: 2 runs failed.')
  })

  it('says why nothing could be decided (LAB-33)', () => {
    const [low, high] = [arm('old', [2, 3, 2, 3]), arm('new', [7, 9, 8, 8])]
    expect(words(planOf({ min_effect: 0 }), [...low.slice(0, 2), ...high.slice(2)])).toMatch(
      /^Inconclusive: the arms of the claim have no scores in common\./,
    )
    const same = (runs: readonly RecordedRun[], value: number) =>
      rescored(runs, () => ({ metrics: { 'pass@1': value }, rewards: undefined }))
    expect(words(planOf({ min_effect: 0 }), [...same(low, 0.2), ...same(high, 0.5)])).toMatch(
      /^Inconclusive: new against old is \+0\.3 on val\.pass@1 \(no interval; 4 shared seeds; any improvement was claimed\)\. Every seed and task gave the same difference/,
    )
    const evidence = weigh(planOf({ min_effect: 0.1 }), [...low, ...high])
    const said = (more: Partial<PairEvidence>) => {
      if (evidence.claim === null) throw new Error('there is a claim')
      const overall = { ...evidence.claim.overall, verdict: 'inconclusive' as const, ...more }
      return conclusionText({ ...evidence, claim: { ...evidence.claim, overall } })
    }
    expect(said({ reason: 'lost_scores' })).toContain(
      ' Scores that infrastructure lost could decide it either way: score',
    )
    const open = { reason: 'undecided' as const }
    expect(said({ ...open, seeds_still_needed: null })).toContain(
      ' More seeds of the same would not decide it: add tasks.',
    )
    expect(said({ ...open, seeds_still_needed: 1 })).toContain(' About 1 more seed would decide it')
    expect(said({ ...open, seeds_still_needed: 7 })).toContain(' About 7 more seeds would decide it')
    expect(words(planOf({ min_effect: 0.1 }), [...low, ...high])).not.toMatch(/would decide it|add tasks/)
  })

  it('says what would help most, and what stands beside the arms (LAB-33)', () => {
    const plan = {
      ...planOf({ min_effect: 0 }),
      arms: ['base_model', 'old', 'new'].map((name) => ({ name, params: {}, seeds })),
    }
    const runs = [...arm('base_model', [1, 1]), ...arm('old', [2, 3, 2, 3]), ...arm('new', [7, 9, 8, 8])]
    const evidence = weigh(plan, runs)
    const said = (limited_by: PairEvidence['limited_by']) => {
      if (evidence.claim === null) throw new Error('there is a claim')
      const overall = { ...evidence.claim.overall, seed_variance: 0.1, task_variance: 0.2, limited_by }
      return conclusionText({ ...evidence, claim: { ...evidence.claim, overall } })
    }
    expect(said('seeds')).toContain('between tasks 0.2; more seeds would help most.')
    expect(said('tasks')).toContain('between tasks 0.2; more tasks would help most.')
    expect(said('residual')).toContain('between tasks 0.2.')
    expect(said(null)).toContain('between tasks 0.2.')
    expect(words(plan, runs)).toContain('For comparison: the untrained model 0.1.')
    expect(conclusionText({ ...evidence, objective: null })).not.toContain('For comparison')
  })

  it('warns of a choice among arms and of test evaluations in the loop, and only of those (LAB-33)', () => {
    const evidence = weigh(planOf(), arm('new', [9, 9]))
    expect(conclusionText(evidence)).not.toMatch(/fresh seeds|test split|invalid/)
    expect(conclusionText({ ...evidence, n_test_looks: 3 })).toContain(
      'The test split was evaluated 3 times during training.',
    )
    expect(conclusionText({ ...evidence, chosen_among: 2 })).toContain('confirm it on fresh seeds')
    expect(conclusionText({ ...evidence, chosen_among: 2, objective: null })).not.toContain('fresh seeds')
  })

  it.each([
    [0, '0'],
    [-0.12345, '-0.1235'],
    [0.001, '0.001'],
    [0.00099, '9.90e-4'],
    [99_999, '100000'],
    [123_456, '1.23e+5'],
    [-123_456, '-1.23e+5'],
  ])('writes %d as %s (LAB-33)', (value, text) => {
    expect(number(value)).toBe(text)
  })
})

type Scores = Readonly<Record<string, number>>

/** A chain with one seed for each list of scores, by stage. */
function chainOf(stages: Readonly<Record<string, readonly Scores[]>>, direction: 'max' | 'min' = 'max') {
  const sample = samplePlan({})
  const arms = Object.keys(stages)
  const benchmark = ['a', 'b'].map((name) => ({ name, metrics: ['pass@1'] }))
  const plan = {
    ...sample,
    experiment: { ...sample.experiment, continual: { datasets: [] }, metadata: { benchmark } },
    objective: { benchmark: 'a', metric: 'pass@1', direction },
    arms: arms.map((name) => ({ name, params: name === 'mix' ? { mix: true } : {}, seeds: [1] })),
    runs: arms.map((name, stage) => ({ name, arm: name, seed: 1, ...(name === 'mix' ? {} : { stage }) })),
  } as unknown as Plan // the parts that are looked at
  const runs = Object.entries(stages).flatMap(([arm, seeds]) =>
    seeds.map((scores) => ({
      run: { arm },
      evals: Object.entries(scores).map(([name, value]) => ({ benchmark: name, metrics: { 'pass@1': value } })),
    })),
  ) as unknown as RecordedRun[]
  return measureForgetting(plan, runs)
}

describe('forgetting', () => {
  it('is the best earlier score less the last one, over the mean of the seeds (LAB-59)', () => {
    const found = chainOf({
      first: [
        { a: 0.9, b: 0 },
        { a: 0.7, b: 0 },
      ],
      second: [{ a: 0.6, b: 0.5 }],
      third: [{ a: 0.2, b: 0.75 }],
      mix: [{ a: 1, b: 1 }],
    })
    expect(found?.stages.map(({ arm, scores }) => [arm, ...scores])).toEqual([
      ['first', 0.8, 0],
      ['second', 0.6, 0.5],
      ['third', 0.2, 0.75],
    ])
    expect(found?.lost.map((value) => Number(value?.toFixed(6)))).toEqual([0.6, -0.25])
    expect(found?.mix).toEqual({ arm: 'mix', scores: [1, 1] })
  })

  it('counts the other way round where less is better (LAB-59)', () => {
    expect(chainOf({ first: [{ a: 1, b: 1 }], second: [{ a: 3, b: 0.5 }] }, 'min')?.lost).toEqual([2, -0.5])
  })

  it('is unknown where a score is missing, and absent without a chain (LAB-59)', () => {
    expect(chainOf({ first: [{ a: 1 }], second: [{ b: 1 }] })).toMatchObject({ lost: [null, null], mix: null })
    expect(chainOf({ first: [{ a: 1, b: 1 }] })).toBeUndefined()
  })
})

describe('the lines of a conclusion', () => {
  it('begin where its subject changes, and are the whole of it (USE-542)', () => {
    const runs = [...arm('old', [3, 4, 5, 3]), ...arm('new', [7, 8, 7, 9])]
    const failed = arm('broken', [0], { status: 'failed', error: { code: 'WORKER_DIED', message: 'it died' } })
    const plan = planOf({ min_effect: 0 })
    const arms = [...plan.arms, { name: 'broken', params: {}, seeds: [1] }]
    const evidence = weighEvidence({ plan: { ...plan, arms }, runs: [...runs, ...failed], metricOf })
    const text = conclusionText(evidence, {
      failures: [{ run: 'old-1', kind: 'cut_rows', n: 2, of: 10 }],
      stopped: { n: 1, message: 'budget.steps is 4, and 5 are used.' },
    })
    const lines = conclusionLines(text)
    expect(lines.join(' ')).toBe(text)
    expect(lines.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'Supported: new',
      'Best of',
      '8 of',
      'broken: 1',
      'Stopped by',
      'Rows cut',
      'The best',
    ])
    const several = { ...evidence, claims: [evidence.claim, evidence.claim] }
    expect(conclusionLines(conclusionText(several)).filter((line) => /^Claim \d: /.test(line))).toHaveLength(2)
  })
})
