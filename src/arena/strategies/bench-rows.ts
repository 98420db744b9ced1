// What repeats of sessions come to: rows of the bench, and how two of them compare. A miss counts as twice the budget.
import { keyedRandom } from '../../kernel/index.ts'
import { bootstrap, meanOf } from '../../stats/index.ts'

export interface BenchRow {
  readonly table: string
  readonly strategy: string
  /** Mean experiments to the target; a miss counts as twice the budget. */
  readonly par2: number
  /** Share of sessions that found it. */
  readonly reach: number
  /** Of par2, 95 %, over repeats. */
  readonly ci: readonly [number, number]
}

/** How the first strategy does beside another, over the same repeats. */
export interface BenchComparison {
  readonly table: string
  readonly strategy: string
  readonly baseline: string
  /** par2 less that of the baseline, with its 95 % interval by paired bootstrap. */
  readonly difference: number
  readonly ci: readonly [number, number]
  /** Share of the baseline's experiments that are saved, with its interval. */
  readonly saved: number
  readonly saved_ci: readonly [number, number]
}

const resamples = 4000

/** Experiments of each repeat as a row. */
export function rowOf(
  table: string,
  strategy: string,
  experiments: readonly number[],
  { budget, seed }: { readonly budget: number; readonly seed: number },
): BenchRow {
  const found = experiments.filter((count) => count <= budget).length
  const { estimate, interval } = resampled(experiments, meanOf, keyedRandom(seed, 'interval', table, strategy))
  return { table, strategy, par2: estimate, reach: found / experiments.length, ci: interval }
}

/** Experiments of the repeats of one strategy. */
type Runs = { readonly kind: string; readonly experiments: readonly number[] }

export function compareRuns(table: string, ours: Runs, theirs: Runs, seed: number): BenchComparison {
  const differences = ours.experiments.map((count, repeat) => count - (theirs.experiments[repeat] ?? 0))
  const places = differences.map((_, repeat) => repeat)
  const total = (runs: Runs, repeats: readonly number[]) =>
    repeats.reduce((sum, repeat) => sum + (runs.experiments[repeat] ?? 0), 0)
  const random = () => keyedRandom(seed, 'pairs', table, ours.kind, theirs.kind)
  const difference = resampled(differences, meanOf, random())
  const saved = resampled(places, (repeats) => 1 - total(ours, repeats) / total(theirs, repeats), random())
  return {
    table,
    strategy: ours.kind,
    baseline: theirs.kind,
    difference: difference.estimate,
    ci: difference.interval,
    saved: saved.estimate,
    saved_ci: saved.interval,
  }
}

/** A statistic with its 95 % interval. */
export function resampled(
  values: readonly number[],
  statistic: (values: readonly number[]) => number,
  random: { int(n: number): number },
): { estimate: number; interval: readonly [number, number] } {
  const { estimate, interval } = bootstrap({
    values,
    statistic,
    method: 'percentile',
    confidence: 0.95,
    resamples,
    random,
  })
  return { estimate, interval: [interval.lower, interval.upper] }
}
