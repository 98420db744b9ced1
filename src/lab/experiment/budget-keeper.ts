// Caps on what an experiment may spend: checked against the plan before anything starts, and counted while it runs.
import { SharedParams } from '../../algorithms/index.ts'
import { type Budget, durationSeconds, type Item, type Plan, type RunEvent } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { isReused } from '../../record/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'

/** Refuses a plan that is known to exceed its budget. */
export function checkForecast({ experiment, runs }: Pick<Plan, 'experiment' | 'runs'>): void {
  const cap = experiment.budget?.steps
  if (cap === undefined) return
  const steps = runs.reduce(
    (sum, { config }) => sum + (SharedParams.safeParse(config.algorithm.params).data?.max_steps ?? 0),
    0,
  )
  if (steps <= cap) return
  throw new EvsysError('BUDGET_EXCEEDED', `the plan takes ${steps} training steps, and budget.steps is ${cap}`, {
    fix: 'raise budget.steps, or plan fewer runs or steps; --steps N caps every run',
  })
}

/**
 * Counts the steps of every run once: one that is done again after a crash or a roll-back is not charged a second time, so that
 * an experiment ends alike whether or not it was interrupted. Money is spent as often as it is.
 */
export class BudgetKeeper {
  /** Time that this execution may take, in milliseconds; absent without a cap on it. */
  readonly wallMs: number | undefined
  readonly #budget: Budget
  readonly #used = { steps: 0, tokens: 0, usd: 0 }
  /** The last step of each run. */
  readonly #counted = new Map<string, number>()
  /** What the attempt of each run that has not ended has cost so far. */
  readonly #spent = new Map<string, number>()

  constructor(budget: Budget = {}) {
    this.#budget = budget
    this.wallMs = budget.wall === undefined ? undefined : durationSeconds(budget.wall) * 1000
  }

  /** Counts money that was spent outside of runs; the error when a cap is exceeded. */
  spend(usd: number): EvsysError | undefined {
    this.#used.usd += usd
    return this.#check('usd')
  }

  /** Counts what an event reports; the error when a cap is exceeded. */
  count(event: RunEvent): EvsysError | undefined {
    if (event.type === 'step.finished' && event.step > (this.#counted.get(event.run_id) ?? -1)) {
      this.#counted.set(event.run_id, event.step)
      this.#used.steps += 1
      this.#used.tokens += event.metrics['data/tokens'] ?? 0
    }
    if (event.type === 'run.started') this.#spent.delete(event.run_id) // a new attempt counts from nothing
    if (event.type === 'step.finished') this.#pay(event.run_id, event.spent_usd)
    if (event.type === 'run.finished') {
      this.#pay(event.run_id, event.cost_usd)
      this.#spent.delete(event.run_id)
    }
    return this.#check('steps') ?? this.#check('tokens') ?? this.#check('usd')
  }

  /** What the attempt of a run has cost, as far as it was reported. */
  spentBy(runId: string): number | undefined {
    return this.#spent.get(runId)
  }

  #pay(runId: string, total: number | undefined): void {
    const before = this.#spent.get(runId) ?? 0
    if (total === undefined || total <= before) return
    this.#used.usd += total - before
    this.#spent.set(runId, total)
  }

  #check(resource: 'steps' | 'tokens' | 'usd'): EvsysError | undefined {
    const [cap, used] = [this.#budget[resource], this.#used[resource]]
    if (cap === undefined || used <= cap) return undefined
    const fix = `raise budget.${resource} and run the file again; what is finished stays in the record`
    return new EvsysError('BUDGET_EXCEEDED', `budget.${resource} is ${cap}, and ${used} are used`, { fix })
  }
}

/** Events at a time: an interrupted sweep may have a million. */
const PAGE = 10_000

/** Counts what earlier executions of the experiment have used. */
export async function countSpent(
  store: Pick<OpenStore, 'runs' | 'events'>,
  { id, plan }: Pick<ExperimentRow, 'id' | 'plan'>,
  budget: BudgetKeeper,
): Promise<void> {
  if (plan.experiment.budget === undefined) return
  const types = ['run.started', 'step.finished', 'run.finished'] as const
  for (const run of await store.runs(id)) {
    if (isReused(run)) continue
    for (let afterSeq = 0; ; ) {
      const events = await store.events({ stream: `run:${run.id}`, afterSeq, limit: PAGE, types })
      for (const event of events) if (isOfRun(event)) budget.count(event)
      const last = events.at(-1)
      if (last === undefined || events.length < PAGE) break
      afterSeq = last.seq
    }
  }
}

export function isOfRun(item: Item): item is RunEvent {
  return item.type !== 'points' && !('experiment_id' in item)
}
