// What earlier executions of an experiment have used of its budget, from its events.
import type { Item, RunEvent } from '../../contracts/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import type { BudgetKeeper } from './budget-keeper.ts'

/** Events at a time: an interrupted sweep may have a million. */
const PAGE = 10_000

/** Counts what earlier executions of the experiment have used. */
export async function countSpent(
  store: Pick<OpenStore, 'runs' | 'events'>,
  { id, plan }: Pick<ExperimentRow, 'id' | 'plan'>,
  budget: BudgetKeeper,
): Promise<void> {
  if (plan.experiment.budget === undefined) return
  const types = ['step.finished', 'run.finished'] as const
  for (const run of await store.runs(id)) {
    for (let afterSeq = 0; ; ) {
      const events = await store.events({ stream: `run:${run.id}`, afterSeq, limit: PAGE, types })
      for (const event of events) if (isOfRun(event)) budget.count(event)
      const last = events.at(-1)
      if (last === undefined || events.length < PAGE) break
      afterSeq = last.seq
    }
  }
}

/** Whether an item is an event of a run. */
export function isOfRun(item: Item): item is RunEvent {
  return item.type !== 'points' && !('experiment_id' in item)
}
