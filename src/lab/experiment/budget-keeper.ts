// Caps on what an experiment may spend: checked against the plan before anything starts, and counted while it runs.
import { SharedParams } from '../../algorithms/index.ts'
import { type Budget, durationSeconds, type Plan, type RunEvent } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export interface BudgetKeeper {
  /** Counts what an event tells of; the error when a cap is reached. */
  count(event: RunEvent): EvsysError | undefined
  /** Time that is left, in milliseconds; absent without a cap on it. */
  readonly wallMs: number | undefined
}

/** Refuses a plan that is known to exceed its budget. */
export function checkForecast({ experiment, runs }: Plan): void {
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

/** `spent` is what earlier attempts at the experiment have used. */
export function createBudgetKeeper(
  budget: Budget | undefined,
  spent: { steps: number; tokens: number; usd: number },
): BudgetKeeper {
  const used = { ...spent }
  const check = (resource: 'steps' | 'tokens' | 'usd') => {
    const cap = budget?.[resource]
    if (cap === undefined || used[resource] <= cap) return undefined
    return new EvsysError('BUDGET_EXCEEDED', `budget.${resource} is ${cap}, and ${used[resource]} are used`, {
      fix: 'raise the cap and go on with --resume; what is finished is kept',
    })
  }
  return {
    wallMs: budget?.wall === undefined ? undefined : durationSeconds(budget.wall) * 1000,
    count(event) {
      if (event.type === 'step.finished') {
        used.steps += 1
        used.tokens += event.metrics['data/tokens'] ?? 0
      }
      if (event.type === 'run.finished') used.usd += event.cost_usd ?? 0
      return check('steps') ?? check('tokens') ?? check('usd')
    },
  }
}
