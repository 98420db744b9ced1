// Strategies side by side in worlds: how many experiments each needs to find the target, with equal chance for all.
import { setImmediate } from 'node:timers/promises'
import type { Strategy } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { type BenchComparison, type BenchRow, compareRuns, rowOf } from './bench-rows.ts'
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

export interface BenchResult {
  readonly results: readonly BenchRow[]
  readonly comparisons: readonly BenchComparison[]
  /** Tables on which luck decides who is best: not searched. */
  readonly flat: readonly { readonly table: string; readonly why: string }[]
}

export async function benchStrategies(options: BenchOptions): Promise<BenchResult> {
  const { worlds, strategies, seed } = options
  const results: BenchRow[] = []
  const comparisons: BenchComparison[] = []
  for (const world of worlds.filter(({ flat }) => flat === undefined)) {
    const runs: { readonly kind: string; readonly experiments: readonly number[] }[] = []
    for (const entry of strategies) {
      const experiments = await repeatSessions(world, entry, options)
      runs.push({ kind: entry.strategy.kind, experiments })
      results.push(rowOf(world.name, entry.strategy.kind, experiments, options))
      options.onDone?.({ table: world.name, strategy: entry.strategy.kind })
    }
    const [first, ...others] = runs
    if (first === undefined) continue
    for (const other of others) comparisons.push(compareRuns(world.name, first, other, seed))
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
