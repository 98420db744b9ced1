// Strategies side by side in worlds: how many experiments each needs to find the target, with equal chance for all.
import { setImmediate } from 'node:timers/promises'
import type { Strategy } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { bootstrap } from '../../stats/index.ts'
import { runSession } from './run-session.ts'
import type { World } from './world.ts'

export interface BenchOptions {
  readonly worlds: readonly World[]
  readonly strategies: readonly { readonly strategy: Strategy; readonly params: unknown }[]
  readonly repeats: number
  /** Experiments of one session. */
  readonly budget: number
  readonly seed: number
  readonly signal: AbortSignal
  onDone?(done: { readonly table: string; readonly strategy: string }): void
}

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

export interface BenchResult {
  readonly results: readonly BenchRow[]
  readonly comparisons: readonly BenchComparison[]
  /** Tables on which luck decides who is best: not searched. */
  readonly flat: readonly { readonly table: string; readonly why: string }[]
}

const resamples = 4000

export async function benchStrategies(options: BenchOptions): Promise<BenchResult> {
  const { worlds, strategies, seed } = options
  const results: BenchRow[] = []
  const comparisons: BenchComparison[] = []
  for (const world of worlds.filter(({ flat }) => flat === undefined)) {
    const runs: { readonly kind: string; readonly experiments: readonly number[] }[] = []
    for (const entry of strategies) {
      const experiments = await repeatSessions(world, entry, options)
      runs.push({ kind: entry.strategy.kind, experiments })
      results.push(rowOf(world, entry.strategy.kind, experiments, options))
      options.onDone?.({ table: world.name, strategy: entry.strategy.kind })
    }
    const [first, ...others] = runs
    if (first === undefined) continue
    for (const other of others) comparisons.push(compare(world.name, first, other, seed))
  }
  const flat = worlds.flatMap(({ name, flat }) => (flat === undefined ? [] : [{ table: name, why: flat }]))
  return { results, comparisons, flat }
}

async function repeatSessions(
  world: World,
  { strategy, params }: BenchOptions['strategies'][number],
  { repeats, budget, seed, signal }: BenchOptions,
): Promise<number[]> {
  const experiments: number[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    await setImmediate() // an interruption is heard between sessions
    signal.throwIfAborted()
    const random = keyedRandom(seed, 'bench', world.name, repeat)
    experiments.push(runSession({ world, strategy, params, budget, random, signal }) ?? 2 * budget)
  }
  return experiments
}

function rowOf(
  { name }: World,
  strategy: string,
  experiments: readonly number[],
  { budget, seed }: BenchOptions,
): BenchRow {
  const found = experiments.filter((count) => count <= budget).length
  const { estimate, interval } = resampled(experiments, mean, keyedRandom(seed, 'interval', name, strategy))
  return { table: name, strategy, par2: estimate, reach: found / experiments.length, ci: interval }
}

type Runs = { readonly kind: string; readonly experiments: readonly number[] }

function compare(table: string, ours: Runs, theirs: Runs, seed: number): BenchComparison {
  const differences = ours.experiments.map((count, repeat) => count - (theirs.experiments[repeat] ?? 0))
  const places = differences.map((_, repeat) => repeat)
  const total = (runs: Runs, repeats: readonly number[]) =>
    repeats.reduce((sum, repeat) => sum + (runs.experiments[repeat] ?? 0), 0)
  const random = () => keyedRandom(seed, 'pairs', table, ours.kind, theirs.kind)
  const difference = resampled(differences, mean, random())
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

function resampled(
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

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
