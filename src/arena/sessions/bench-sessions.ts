// What whole sessions end with: search, races, keep rule, final races and confirmation as they are shipped, for some keep rules beside
// each other. The judge is the true worth of the last incumbent, not what was visited.
import { setImmediate } from 'node:timers/promises'
import { type ResearchState, SessionSettings } from '../../contracts/index.ts'
import { keyedRandom, type Registry } from '../../kernel/index.ts'
import { loadResearchLoop } from '../../research/index.ts'
import { clopperPearson, meanOf } from '../../stats/index.ts'
import { resampled } from '../strategies/bench-rows.ts'
import type { SessionWorld } from './session-world.ts'

export interface SessionRules {
  readonly name: string
  readonly settings: Partial<Pick<SessionSettings, 'strategy' | 'keep_rule' | 'proposer' | 'rules'>>
}

interface BenchOptions {
  readonly worlds: readonly SessionWorld[]
  readonly entries: readonly SessionRules[]
  readonly repeats: number
  /** The first of the repeats, where they are played in parts; absent: 0. */
  readonly first?: number | undefined
  /** Budgets, in rising order. */
  readonly experiments: readonly number[]
  readonly seed: number
  readonly registry: Registry
  readonly signal: AbortSignal
  onDone?: ((done: { readonly table: string; readonly strategy: string }) => void) | undefined
}

/** How a session ended. */
export interface SessionEnd {
  readonly regret: number
  readonly rank: number
  /** Regret of the best that was run. */
  readonly visited: number
  readonly runs: number
  readonly keeps: number
  readonly confirmed: boolean
  readonly falselyConfirmed: boolean
}

/** `behind`: regret beyond that of the first entry over the same repeats, with its 95 % interval by paired bootstrap; null: it is the first. */
export type SessionRow = ReturnType<typeof rowOf> & {
  readonly behind: { readonly regret: number; readonly ci: readonly [number, number] } | null
}

export async function benchSessions(options: BenchOptions): Promise<SessionRow[]> {
  const { worlds, entries, experiments, onDone } = options
  const rows: SessionRow[] = []
  for (const world of worlds) {
    let first: SessionEnd[][] | undefined
    for (const entry of entries) {
      const ends = await playSessions(world, entry, options)
      for (const [at, budget] of experiments.entries()) {
        const row = rowOf(world.name, entry.name, budget, endsAt(ends, at))
        rows.push({
          ...row,
          behind: first === undefined ? null : behindFirst(endsAt(first, at), endsAt(ends, at), row),
        })
      }
      first ??= ends
      onDone?.({ table: world.name, strategy: entry.name })
    }
  }
  return rows
}

function endsAt(ends: readonly SessionEnd[][], at: number): SessionEnd[] {
  return ends.flatMap((each) => each[at] ?? [])
}

function behindFirst(first: readonly SessionEnd[], ends: readonly SessionEnd[], of: ReturnType<typeof rowOf>) {
  const more = ends.map(({ regret }, repeat) => regret - (first[repeat]?.regret ?? Number.NaN))
  const random = keyedRandom(0, 'behind', of.table, of.rules, of.experiments)
  const { estimate, interval } = resampled(more, meanOf, random)
  return { regret: estimate, ci: interval }
}

/**
 * How sessions ended, for each repeat and budget.
 * @public bench/surface plays them too
 */
export async function playSessions(
  world: SessionWorld,
  { settings }: SessionRules,
  options: Omit<BenchOptions, 'worlds' | 'entries'>,
): Promise<SessionEnd[][]> {
  const { repeats, first = 0, experiments, seed, registry, signal } = options
  const { playSession, openBank } = await loadResearchLoop()
  const ends: SessionEnd[][] = []
  for (let repeat = first; repeat < first + repeats; repeat++) {
    await setImmediate() // an interruption is heard between sessions
    const draw = keyedRandom(seed, 'sessions', world.name, repeat)
    const session = draw.derive('session').int(2 ** 31)
    const states = await playSession(
      {
        settings: SessionSettings.parse({
          task: world.name,
          task_hash: world.name,
          metric: 'score',
          direction: world.direction,
          space: world.space,
          train_seconds: 1,
          seed: session,
          seeds: [...openBank(world.seeds, session)],
          strategy: { kind: 'default' },
          keep_rule: { kind: 'default' },
          proposer: { kind: 'optimizer' },
          workers: 1,
          budget: {},
          noise_runs: Math.max(2, Math.min(5, world.seeds.length || 5)),
          control_every: 15,
          confirm_every: 5,
          hidden_test: world.hidden ? undefined : false,
          ...settings,
        }),
        files: world.start(draw),
        services: { registry, signal },
        fingerprint: (_files, knobs) => JSON.stringify(Object.entries(knobs).sort(([a], [b]) => (a < b ? -1 : 1))),
        run: ({ knobs }, { seed: runSeed, split }) => world.run(knobs, runSeed, split, session),
      },
      experiments,
    )
    ends.push(states.map((state) => endOf(world, state)))
  }
  return ends
}

function endOf(world: SessionWorld, state: ResearchState): SessionEnd {
  const meritOf = (id: string | undefined) => world.merit(state.attempts.find((each) => each.id === id)?.knobs ?? {})
  const best = world.sorted[0] ?? 0
  const baseline = meritOf(state.baseline)
  const ended = meritOf(state.incumbent)
  const visited = state.attempts.reduce(
    (most, { id, scores }) => (scores.length > 0 ? Math.max(most, meritOf(id)) : most),
    baseline,
  )
  return {
    regret: best - ended,
    rank: 1 + world.sorted.findIndex((merit) => merit <= ended),
    visited: best - visited,
    runs: state.spend.runs - state.attempts.reduce((sum, { hidden }) => sum + hidden.length, 0),
    keeps: state.gauges.keeps,
    confirmed: state.confirmations.some(({ confirmed }) => confirmed),
    falselyConfirmed: state.confirmations.some(({ attempt, confirmed }) => confirmed && !(meritOf(attempt) > baseline)),
  }
}

/** Means over sessions, and the median of ranks. `regret`: of what the session ended with; `visited`: of the best that it ran. */
function rowOf(table: string, rules: string, experiments: number, ends: readonly SessionEnd[]) {
  const mean = (value: (end: SessionEnd) => number) => meanOf(ends.map(value))
  const ranks = ends.map(({ rank }) => rank).sort((a, b) => a - b)
  const falseCount = ends.filter(({ falselyConfirmed }) => falselyConfirmed).length
  return {
    table,
    rules,
    experiments,
    sessions: ends.length,
    regret: mean(({ regret }) => regret),
    regret_error:
      Math.sqrt(mean(({ regret }) => regret ** 2) - mean(({ regret }) => regret) ** 2) /
      Math.sqrt(Math.max(1, ends.length - 1)),
    rank: ranks[ranks.length >> 1] ?? Number.NaN,
    visited: mean(({ visited }) => visited),
    runs: mean(({ runs }) => runs),
    keeps: mean(({ keeps }) => keeps),
    confirmed: mean(({ confirmed }) => Number(confirmed)),
    falsely_confirmed: falseCount / ends.length,
    falsely_confirmed_at_most: clopperPearson(falseCount, ends.length, 0.9).upper,
  }
}
