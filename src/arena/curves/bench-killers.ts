// Killers side by side in worlds of curves: what they save, and what it costs, which here is known.
import { setImmediate } from 'node:timers/promises'
import { keyedRandom } from '../../kernel/index.ts'
import { curveRegret } from '../../research/index.ts'
import { meanOf } from '../../stats/index.ts'
import {
  type BenchComparison,
  type BenchRow,
  compareToFirst,
  type Runs,
  resampled,
  rowOf,
} from '../strategies/bench-rows.ts'
import type { CurveWorld } from './curve-world.ts'
import { type CurveSession, type Killer, runCurveSession } from './run-curve-session.ts'

export interface KillerRow extends BenchRow {
  readonly time: ReturnType<typeof timeOf>
}

interface BenchKillersOptions {
  readonly worlds: readonly CurveWorld[]
  readonly killers: readonly Killer[]
  readonly repeats: number
  /** Whole trainings of one session. */
  readonly budget: number
  readonly seed: number
  readonly signal: AbortSignal
  onDone?: ((done: { readonly table: string; readonly strategy: string }) => void) | undefined
}

/** `strategy` of the rows is the killer, and an experiment costs the share of its training that it ran. */
export async function benchKillers(
  options: BenchKillersOptions,
): Promise<{ readonly results: readonly KillerRow[]; readonly comparisons: readonly BenchComparison[] }> {
  const { worlds, killers, budget, seed } = options
  const results: KillerRow[] = []
  const comparisons: BenchComparison[] = []
  for (const world of worlds) {
    const runs: Runs[] = []
    for (const killer of killers) {
      const sessions = await repeatSessions(world, killer, options)
      const experiments = sessions.map(({ reachedAfter }) => reachedAfter ?? 2 * budget)
      runs.push({ kind: killer.kind, experiments })
      results.push({ ...rowOf(world.name, killer.kind, experiments, { budget, seed }), time: timeOf(sessions, seed) })
      options.onDone?.({ table: world.name, strategy: killer.kind })
    }
    comparisons.push(...compareToFirst(world.name, runs, seed))
  }
  return { results, comparisons }
}

async function repeatSessions(
  world: CurveWorld,
  killer: Killer,
  { repeats, budget, seed, signal }: BenchKillersOptions,
): Promise<CurveSession[]> {
  const sessions: CurveSession[] = []
  for (let repeat = 0; repeat < repeats; repeat++) {
    await setImmediate() // an interruption is heard between sessions
    signal.throwIfAborted()
    sessions.push(runCurveSession({ world, killer, budget, random: keyedRandom(seed, 'curves', world.name, repeat) }))
  }
  return sessions
}

/** What a killer did with the time of all sessions. */
function timeOf(sessions: readonly CurveSession[], seed: number) {
  const runs = sessions.flatMap(({ races }) => races)
  const killed = runs.filter(({ loss }) => loss === undefined)
  const { audited, regret: estimated } = curveRegret(runs)
  const isAudited = audited > 0
  return {
    /** Share of the training time of races. */
    saved: 1 - meanOf(runs.map(({ time }) => time)),
    runs: runs.length,
    killed: killed.length,
    /** Runs whose candidate was truly better than the incumbent. */
    winners_killed: killed.filter(({ helps }) => helps).length,
    winners: runs.filter(({ helps }) => helps).length,
    /** Gain in sigmas, with the noise of the run, that ending it threw away: mean over the ended runs. */
    regret: thrownAway(killed.map(({ trueLoss }) => trueLoss)),
    /** The same as the loop estimates it: by the runs that it continued to audit. Null: nothing was audited. */
    audited_regret: isAudited ? estimated : null,
    audited,
    /** Audited regret less that of the ended runs, 95 %, over sessions: whether the audit is unbiased. */
    audit_bias: isAudited ? biasOf(sessions, seed) : null,
  }
}

function biasOf(sessions: readonly CurveSession[], seed: number): readonly [number, number] {
  const sums = sessions.map(({ races }) => {
    const condemned = races.filter((run) => run.condemned)
    const audits = condemned.filter(({ loss }) => loss !== undefined)
    const killed = condemned.filter(({ loss }) => loss === undefined)
    const sum = (all: typeof races) => all.reduce((total, { trueLoss }) => total + Math.max(0, -trueLoss), 0)
    return { audits: audits.length, auditedSum: sum(audits), killed: killed.length, killedSum: sum(killed) }
  })
  const bias = (places: readonly number[]) => {
    const total = (part: keyof (typeof sums)[number]) =>
      places.reduce((all, place) => all + (sums[place]?.[part] ?? 0), 0)
    return total('auditedSum') / Math.max(1, total('audits')) - total('killedSum') / Math.max(1, total('killed'))
  }
  const places = sums.map((_, place) => place)
  return resampled(places, bias, keyedRandom(seed, 'audits')).interval
}

function thrownAway(losses: readonly number[]): number {
  return losses.length === 0 ? 0 : meanOf(losses.map((loss) => Math.max(0, -loss)))
}
