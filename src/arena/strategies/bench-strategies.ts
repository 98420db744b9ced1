// Strategies side by side in worlds: how many experiments each needs to find the target, with equal chance for all.
import { setImmediate } from 'node:timers/promises'
import type { Attempt, CandidateIdea, Context, SearchState, Strategy } from '../../contracts/index.ts'
import { type KeyedRandom, keyedRandom } from '../../kernel/index.ts'
import { type BenchComparison, type BenchRow, compareToFirst, type Runs, rowOf } from './bench-rows.ts'
import type { Candidate, World } from './world.ts'

interface BenchOptions {
  readonly worlds: readonly World[]
  readonly strategies: readonly { readonly strategy: Strategy; readonly params: unknown }[]
  readonly repeats: number
  /** Experiments of one session. */
  readonly budget: number
  readonly seed: number
  readonly signal: AbortSignal
  onDone?: ((done: { readonly table: string; readonly strategy: string }) => void) | undefined
}

export type BenchResult = Awaited<ReturnType<typeof benchStrategies>>

export async function benchStrategies(options: BenchOptions) {
  const { worlds, strategies, seed } = options
  const results: BenchRow[] = []
  const comparisons: BenchComparison[] = []
  for (const world of worlds.filter(({ flat }) => flat === undefined)) {
    const runs: Runs[] = []
    for (const entry of strategies) {
      const experiments = await repeatSessions(world, entry, options)
      runs.push({ kind: entry.strategy.kind, experiments })
      results.push(rowOf(world.name, entry.strategy.kind, experiments, options))
      options.onDone?.({ table: world.name, strategy: entry.strategy.kind })
    }
    comparisons.push(...compareToFirst(world.name, runs, seed))
  }
  /** Tables on which luck decides who is best: not searched. */
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

// One session of a strategy in a world, as the loop runs it but with one run per candidate and any better score kept: what is
// measured is where the strategy goes, not what a keep rule makes of it.
/** Answers without anything new after which a strategy has nothing left to ask. */
const mostEmptyAnswers = 50

interface SessionOptions {
  /** Version of the decisions; absent: that of new sessions. */
  readonly rules?: number | undefined
  readonly world: World
  readonly strategy: Strategy
  readonly params: unknown
  readonly budget: number
  readonly random: KeyedRandom
  readonly signal: AbortSignal
}

/** Experiments until the target was found; absent: it was not. */
export function runSession({
  world,
  strategy,
  params,
  budget,
  random,
  signal,
  rules = 2,
}: SessionOptions): number | undefined {
  const session = world.open(random)
  const candidates = new Map<string, Candidate>()
  const tried = new Map<string, number>()
  const attempts: Attempt[] = []
  let incumbent: Attempt | undefined
  const context: Context<unknown> = {
    params,
    signal,
    random: (...path) => random.derive(strategy.kind, ...path),
    log: () => {},
    secret: () => '',
  }

  const attempt = (candidate: Candidate, made: Partial<Attempt>): boolean => {
    const times = tried.get(candidate.fingerprint) ?? 0
    tried.set(candidate.fingerprint, times + 1)
    const { value, reached } = session.run(candidate, random.derive('noise', candidate.fingerprint, times))
    const number = attempts.length
    const better = value !== undefined && isBetter(world, value, incumbent?.scores[0]?.value)
    const next: Attempt = {
      ...blank,
      ...made,
      id: `a${number}`,
      number,
      knobs: candidate.knobs,
      fingerprint: candidate.fingerprint,
      scores: value === undefined ? [] : [{ seed: times, value, secondary: {} }],
      verdict: value === undefined ? 'failed' : better ? 'provisional' : 'discarded',
      failure: value === undefined ? { class: 'crash', reason: 'it crashed' } : undefined,
    }
    attempts.push(next)
    candidates.set(next.id, candidate)
    if (better) incumbent = next
    return reached
  }

  attempt(session.baseline, {})
  for (let empty = 0; attempts.length <= budget && empty < mostEmptyAnswers; ) {
    signal.throwIfAborted()
    const state: SearchState = {
      direction: world.direction,
      attempts,
      incumbent: incumbent?.id ?? 'a0',
      space: world.space,
      banned: [],
      experimentsLeft: budget + 1 - attempts.length,
      rules,
    }
    const request = strategy.next(state, context)
    const parents = request.parents.flatMap((id) => candidates.get(id) ?? [])
    const ideas = session.propose(request, parents, random.derive('propose', attempts.length, empty))
    const fresh = strategy.repeats === 'run again' ? ideas : unseen(ideas, tried)
    const places = fresh.length > 0 ? strategy.rank?.(fresh, state, { ...context, request }) : undefined
    const chosen = places?.flatMap((place) => fresh[place] ?? []) ?? fresh
    empty = chosen.length === 0 ? empty + 1 : 0
    for (const { idea, ...candidate } of chosen.slice(0, budget + 1 - attempts.length)) {
      const { family, category, title } = idea
      const reached = attempt(candidate, { parents: [...request.parents], mode: request.mode, family, category, title })
      if (reached) return attempts.length - 1
    }
  }
  return undefined
}

const blank: Omit<Attempt, 'id' | 'number' | 'knobs' | 'fingerprint' | 'scores'> = {
  parents: [],
  title: 'baseline',
  hypothesis: '',
  family: 'baseline',
  category: 'hyperparameter',
  mode: 'improve',
  lines: 0,
}

function isBetter({ direction }: World, value: number, best: number | undefined): boolean {
  return best === undefined || (direction === 'max' ? value > best : value < best)
}

// A candidate that was tried is answered from memory: it costs no experiment.
function unseen(ideas: readonly CandidateIdea[], tried: ReadonlyMap<string, number>): CandidateIdea[] {
  const seen = new Set<string>()
  return ideas.filter(({ fingerprint }) => {
    if (tried.has(fingerprint) || seen.has(fingerprint)) return false
    seen.add(fingerprint)
    return true
  })
}
