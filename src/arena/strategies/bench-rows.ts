// What repeats of sessions come to: rows of the bench, and how two of them compare. A miss counts as twice the budget.
import { keyedRandom } from '../../kernel/index.ts'
import { bootstrap, meanOf } from '../../stats/index.ts'

const resamples = 4000

export type BenchRow = ReturnType<typeof rowOf>

/**
 * Experiments of each repeat as a row. `par2`: mean experiments to the target, with its 95 % interval over repeats. `reach`: share of
 * sessions that found it.
 */
export function rowOf(
  table: string,
  strategy: string,
  experiments: readonly number[],
  { budget, seed }: { readonly budget: number; readonly seed: number },
) {
  const found = experiments.filter((count) => count <= budget).length
  const { estimate, interval } = resampled(experiments, meanOf, keyedRandom(seed, 'interval', table, strategy))
  return { table, strategy, par2: estimate, reach: found / experiments.length, ci: interval }
}

/** Experiments of the repeats of one strategy. */
export type Runs = { readonly kind: string; readonly experiments: readonly number[] }

export type BenchComparison = ReturnType<typeof compareRuns>

/** The first of some strategies beside each of the others. */
export function compareToFirst(table: string, runs: readonly Runs[], seed: number): BenchComparison[] {
  const [first, ...others] = runs
  return first === undefined ? [] : others.map((other) => compareRuns(table, first, other, seed))
}

/**
 * How a strategy does beside another, over the same repeats, with 95 % intervals by paired bootstrap. `difference`: of par2. `saved`:
 * share of the baseline's experiments.
 */
function compareRuns(table: string, ours: Runs, theirs: Runs, seed: number) {
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
  const { estimate, interval } = bootstrap({ values, statistic, confidence: 0.95, resamples, random })
  return { estimate, interval: [interval.lower, interval.upper] }
}
