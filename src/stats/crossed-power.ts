// What a plan over seeds and tasks can find out. The mean of S x T paired differences has the variance
//   var_seed / S + var_task / T + var_residual / (S T)
// and is judged as in `crossed-anova.ts`: the wider of the interval over seeds and tasks, with Satterthwaite's (1946) degrees of freedom,
// and of that over seeds alone. Mean squares stand at their expectation. More seeds take nothing from var_task / T.

import { fQuantile, poolingOdds } from './crossed-anova.ts'
import { findRoot } from './find-root.ts'
import { requireCount, requireFraction } from './moments.ts'
import { normalQuantile } from './normal-distribution.ts'
import { usualPower } from './power.ts'
import { noncentralTTail, tMultiplier } from './student-t.ts'

/** Variances of a paired difference. */
export interface DifferenceVariances {
  readonly seed: number
  /** What a task adds under every seed. */
  readonly task: number
  /** What is left in one cell. */
  readonly residual: number
}

export interface CrossedPlan {
  readonly variances: DifferenceVariances
  /** Rows: seeds that both arms run, over all pairs of the claim. */
  readonly pairs: number
  readonly tasks: number
  /** Coverage of the interval that decides. */
  readonly confidence: number
  readonly power?: number | undefined
}

/** The smallest effect beyond minEffect that the plan supports with the given power; null for one pair, and without any variance. */
export function crossedDetectable({ variances, pairs, tasks, confidence, power = usualPower }: CrossedPlan) {
  requireCount(pairs, 0, 'pairs')
  requireCount(tasks, 1, 'tasks')
  requireFraction(confidence, 'confidence')
  requireFraction(power, 'power')
  if (pairs < 2) return null
  const error = expectedError(variances, pairs, tasks, confidence)
  return error === null ? null : error.standardError * deltaOf(error.df, confidence, power)
}

/** What no number of seeds gets below: the error that the tasks leave. */
export function detectableBySeeds({ variances, tasks, confidence, power = usualPower }: Omit<CrossedPlan, 'pairs'>) {
  const error = Math.sqrt(variances.task / tasks)
  return error === 0 ? 0 : tasks < 2 ? Number.POSITIVE_INFINITY : error * deltaOf(tasks - 1, confidence, power)
}

/** Seeds that support an effect `gap` beyond minEffect; null when more than `most`. */
export function crossedPairsNeeded(plan: Omit<CrossedPlan, 'pairs'> & { gap: number }, most = 1000): number | null {
  return smallestCount(2, most, (pairs) => reaches({ ...plan, pairs }, plan.gap))
}

/** Tasks that support an effect `gap` beyond minEffect with these seeds; null when more than `most`. */
export function crossedTasksNeeded(plan: Omit<CrossedPlan, 'tasks'> & { gap: number }, most = 100_000): number | null {
  return smallestCount(2, most, (tasks) => reaches({ ...plan, tasks }, plan.gap))
}

function reaches(plan: CrossedPlan, gap: number): boolean {
  const least = crossedDetectable(plan)
  return least !== null && least <= gap
}

// What is detected falls with the count, so halving finds the first that does.
function smallestCount(least: number, most: number, holds: (count: number) => boolean): number | null {
  if (!holds(most)) return null
  let [low, high] = [least, most]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

interface ExpectedError {
  readonly standardError: number
  readonly df: number
}

function expectedError(
  variances: DifferenceVariances,
  pairs: number,
  tasks: number,
  confidence: number,
): ExpectedError | null {
  const cells = pairs * tasks
  const residual = { square: variances.residual, df: (pairs - 1) * (tasks - 1) }
  const seed = { square: tasks * variances.seed + variances.residual, df: pairs - 1 }
  const task = { square: pairs * variances.task + variances.residual, df: tasks - 1 }
  const errorOf = (square: number, df: number) => ({ standardError: Math.sqrt(square / cells), df })
  const isPooled = residual.df > 0 && seed.square <= fQuantile(poolingOdds, seed.df, residual.df) * residual.square
  const rows = isPooled
    ? {
        square: (seed.df * seed.square + residual.df * residual.square) / (seed.df + residual.df),
        df: seed.df + residual.df,
      }
    : seed
  const both = rows.square + task.square - residual.square
  const parts = [rows, task, residual].reduce((sum, { square, df }) => sum + (df > 0 ? square ** 2 / df : 0), 0)
  const found = [
    ...(rows.square > 0 ? [errorOf(rows.square, rows.df)] : []),
    ...(tasks > 1 && both > 0 && parts > 0 ? [errorOf(both, both ** 2 / parts)] : []),
  ]
  const reach = ({ standardError, df }: ExpectedError) => standardError * tMultiplier(confidence, df)
  return found.reduce<ExpectedError | null>((a, b) => (a === null || reach(b) > reach(a) ? b : a), null)
}

/** The noncentrality at which a t interval of this coverage excludes zero with the given power. */
function deltaOf(df: number, confidence: number, wanted: number): number {
  const multiplier = tMultiplier(confidence, df)
  const evaluate = (delta: number) => {
    const at = (x: number) => noncentralTTail(multiplier, df, x)
    const reach = 1e-4 * Math.max(1, Math.abs(delta))
    const value = at(delta)
    return { value: value - wanted, slope: (at(delta + reach) - value) / reach }
  }
  // P(Z + delta > c S) has S below 5 almost surely, so the root is within a few multiples of c.
  const upper = 10 * multiplier + 10
  return findRoot({ evaluate, lower: -upper, upper, start: multiplier + normalQuantile(wanted) })
}
