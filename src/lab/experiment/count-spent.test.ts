import { describe, expect, it } from 'vitest'
import { eventsOf, recordSample } from '../../../tests/sample-plan.ts'
import { openStore } from '../../store/index.ts'
import { createBudgetKeeper } from './budget-keeper.ts'
import { countSpent } from './count-spent.ts'

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
    const budget = createBudgetKeeper(capped.plan.experiment.budget)
    await countSpent(store, capped, budget)
    const [again, next, beyond] = eventsOf(second, [step(0), step(1), step(2)]).map((event) => budget.count(event))
    expect([again, next]).toEqual([undefined, undefined])
    expect(beyond?.message).toBe('budget.steps is 1002, and 1003 are used')
  })
})
