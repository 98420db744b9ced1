import { describe, expect, it } from 'vitest'
import { eventsOf, recordSample, samplePlan } from '../../../tests/sample-plan.ts'
import type { Plan } from '../../contracts/index.ts'
import { openStore } from '../../store/index.ts'
import { BudgetKeeper, checkForecast, countSpent } from './budget-keeper.ts'

const steps = (runId: string, numbers: readonly number[], tokens = 0) =>
  eventsOf(
    runId,
    numbers.map((step) => ({ type: 'step.finished' as const, step, metrics: { 'data/tokens': tokens } })),
  )
const finished = (runId: string, cost_usd: number) =>
  eventsOf(runId, [{ type: 'run.finished', status: 'completed', metrics: {}, cost_usd }])

describe('a budget', () => {
  it('stops at the first step beyond the cap, and at every one after it (LAB-30)', () => {
    const budget = new BudgetKeeper({ steps: 3 })
    const said = steps('a', [0, 1, 2, 3, 4]).map((event) => budget.count(event)?.code)
    expect(said).toEqual([undefined, undefined, undefined, 'BUDGET_EXCEEDED', 'BUDGET_EXCEEDED'])
  })

  it('charges a step once, however often it is done again after a crash or a roll-back (LAB-30)', () => {
    const budget = new BudgetKeeper({ steps: 4, tokens: 40 })
    const said = [...steps('a', [0, 1, 0, 1, 2], 10), ...steps('b', [0], 10)].map((event) => budget.count(event))
    expect(said).toEqual([undefined, undefined, undefined, undefined, undefined, undefined])
    expect(steps('b', [1], 10).map((event) => budget.count(event)?.message)).toEqual([
      'budget.steps is 4, and 5 are used',
    ])
  })

  it('counts tokens and money over all runs, and money as often as it is spent (LAB-30)', () => {
    const tokens = new BudgetKeeper({ tokens: 25 })
    const events = [...steps('a', [0], 10), ...steps('b', [0], 10), ...steps('c', [0], 10)]
    expect(events.map((event) => tokens.count(event)?.message)).toEqual([
      undefined,
      undefined,
      'budget.tokens is 25, and 30 are used',
    ])
    const money = new BudgetKeeper({ usd: 1 })
    const paid = [...finished('a', 0.6), ...finished('a', 0.6)].map((event) => money.count(event)?.code)
    expect(paid).toEqual([undefined, 'BUDGET_EXCEEDED'])
  })

  it('counts what a run reports of its cost while it runs, once in each attempt (USE-482)', () => {
    const budget = new BudgetKeeper({ usd: 5 })
    const spending = (step: number, spent_usd: number) =>
      eventsOf('a', [{ type: 'step.finished' as const, step, metrics: {}, spent_usd }])
    const started = eventsOf('a', [{ type: 'run.started', config_hash: 'h', attempt: 2 }])
    const first = [...spending(0, 1), ...spending(1, 3)]
    const second = [...started, ...spending(0, 1.5)]
    expect([...first, ...second].map((event) => budget.count(event))).toEqual(Array(4).fill(undefined))
    expect(budget.spentBy('a')).toBe(1.5)
    expect(finished('a', 2.25).map((event) => budget.count(event)?.message)).toEqual([
      'budget.usd is 5, and 5.25 are used',
    ])
    expect(budget.spentBy('a')).toBeUndefined()
  })

  it('without caps is never used up; one on time is in milliseconds (LAB-30)', () => {
    const free = new BudgetKeeper(undefined)
    expect(steps('a', [0, 1, 2]).map((event) => free.count(event))).toEqual([undefined, undefined, undefined])
    expect(free.wallMs).toBeUndefined()
    expect(new BudgetKeeper({ wall: '2m' }).wallMs).toBe(120_000)
  })

  it('refuses a plan that is known to exceed it, before anything starts (LAB-30)', () => {
    const plan = (cap: number): Plan => {
      const sample = samplePlan({ seeds: [1, 2, 3] })
      const runs = sample.runs.map((run) => ({
        ...run,
        config: { ...run.config, algorithm: { ...run.config.algorithm, params: { max_steps: 10 } } },
      }))
      return { ...sample, runs, experiment: { ...sample.experiment, budget: { steps: cap } } }
    }
    expect(() => checkForecast(plan(30))).not.toThrow()
    expect(() => checkForecast(plan(29))).toThrow('the plan takes 30 training steps, and budget.steps is 29')
  })
})

const step = (n: number) => ({ type: 'step.finished' as const, step: n, metrics: { 'data/tokens': 5 } })

describe('what was spent before a resume', () => {
  it('is counted over all runs, a step that was done again once (LAB-30)', async () => {
    await using store = await openStore(':memory:')
    const { experimentId, runIds } = await recordSample(store, { seeds: [1, 2] })
    const [first = '', second = ''] = runIds
    // A thousand steps, and some of them again after a crash: more than a page of events would be slow, and is not needed.
    const done = [...Array.from({ length: 1000 }, (_, n) => n), 998, 999]
    await store.push({ stream: `run:${first}`, fromSeq: 1, items: eventsOf(first, done.map(step)) })
    await store.push({ stream: `run:${second}`, fromSeq: 1, items: eventsOf(second, [step(0)]) })
    const experiment = await store.experiment(experimentId)
    if (experiment === undefined) throw new Error('it was recorded')
    const capped = { ...experiment, plan: { ...experiment.plan, experiment: { ...experiment.plan.experiment } } }
    capped.plan.experiment.budget = { steps: 1002, tokens: 10_000 }
    const budget = new BudgetKeeper(capped.plan.experiment.budget)
    await countSpent(store, capped, budget)
    const [again, next, beyond] = eventsOf(second, [step(0), step(1), step(2)]).map((event) => budget.count(event))
    expect([again, next]).toEqual([undefined, undefined])
    expect(beyond?.message).toBe('budget.steps is 1002, and 1003 are used')
  })
})
