// One session of a strategy in a world, as the loop runs it but with one run per candidate and any better score kept: what is
// measured is where the strategy goes, not what a keep rule makes of it.
import type { Attempt, CandidateIdea, Context, SearchRequest, SearchState, Strategy } from '../../contracts/index.ts'
import type { KeyedRandom } from '../../kernel/index.ts'
import type { Candidate, World } from './world.ts'

/** Answers without anything new after which a strategy has nothing left to ask. */
const mostEmptyAnswers = 50

export interface SessionOptions {
  readonly world: World
  readonly strategy: Strategy
  readonly params: unknown
  readonly budget: number
  readonly random: KeyedRandom
  readonly signal: AbortSignal
}

/** Experiments until the target was found; absent: it was not. */
export function runSession({ world, strategy, params, budget, random, signal }: SessionOptions): number | undefined {
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
      ...(value === undefined ? { failure: { class: 'crash', reason: 'it crashed' } } : {}),
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
    }
    const request = strategy.next(state, context)
    const parents = request.parents.flatMap((id) => candidates.get(id) ?? [])
    const ideas = session.propose(request, parents, random.derive('propose', attempts.length, empty))
    const fresh = strategy.repeats === 'run again' ? ideas : unseen(ideas, tried)
    const chosen = chooseIdeas(fresh, { strategy, state, context, request })
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

function chooseIdeas(
  ideas: readonly CandidateIdea[],
  {
    strategy,
    state,
    context,
    request,
  }: { strategy: Strategy; state: SearchState; context: Context<unknown>; request: SearchRequest },
): readonly CandidateIdea[] {
  if (ideas.length === 0 || strategy.rank === undefined) return ideas
  return strategy.rank(ideas, state, { ...context, request }).flatMap((place) => ideas[place] ?? [])
}
