// From ideas to attempts: those that repeat something are answered from memory, those that cannot be made are turned down, the others
// are ranked by the strategy, and the best begin. All of it is one decision, written down as a whole.
import type {
  AttemptFailure,
  CandidateFiles,
  Idea,
  Knobs,
  ResearchState,
  SearchRequest,
  TurnedDown,
} from '../../contracts/index.ts'
import { changesBetween, filesOf, lineCount } from './candidate-files.ts'
import { searchState } from './search-state.ts'
import type { NewEntry } from './session-journal.ts'
import type { Deciding } from './step.ts'

export interface Offered {
  readonly ideas: readonly Idea[]
  readonly request: SearchRequest
  /** Absent: they come from a person. */
  readonly call?: string
  readonly origin: 'proposer' | 'author'
}

interface Candidate {
  readonly idea: Idea
  readonly parents: readonly string[]
  readonly files: CandidateFiles
  readonly base: CandidateFiles
  readonly knobs: Knobs
  readonly fingerprint: string
}

type Read =
  | Candidate
  | { readonly idea: Idea; readonly down: TurnedDown; readonly failures?: readonly AttemptFailure[] }

export function chooseIdeas(deciding: Deciding, offered: Offered): NewEntry[] {
  const { state, plugins } = deciding
  const read: Read[] = []
  for (const idea of offered.ideas) read.push(readIdea(deciding, idea, offered, read))
  const candidates = read.filter((each): each is Candidate => !('down' in each))
  const isAuthored = offered.origin === 'author'
  const places = isAuthored
    ? candidates.map((_, place) => place)
    : plugins.rank(candidates, searchState(state), offered.request, [offered.call ?? 'author'])
  const cap = state.settings?.budget.experiments
  const room = cap === undefined ? Number.POSITIVE_INFINITY : Math.max(0, cap - state.spend.experiments)
  const chosen = [...new Set(places)].slice(0, room).flatMap((place) => candidates[place] ?? [])
  const begun = chosen.map((candidate, i) => begin(state, candidate, offered, i))
  const left = candidates.filter((candidate) => !chosen.includes(candidate))
  const down = [
    ...read.flatMap((each) => ('down' in each ? [each.down] : [])),
    ...left.map(({ idea }) => turnDown(idea, 'others promise more')),
  ]
  const rejected: NewEntry[] = [
    { type: 'ideas.rejected', ...(offered.call === undefined ? {} : { call: offered.call }), ideas: down },
  ]
  if (begun.length > 0) return down.length > 0 && offered.call !== undefined ? [...begun, ...rejected] : begun
  const broken = read.find((each) => 'failures' in each && each.idea.change.kind !== 'knobs')
  return broken !== undefined && 'failures' in broken && broken.failures !== undefined && room > 0
    ? beginBroken(state, broken.idea, broken.failures, offered)
    : rejected
}

function readIdea(
  { state, tools, plugins }: Deciding,
  idea: Idea,
  { request }: Offered,
  earlier: readonly Read[],
): Read {
  if (state.banned.includes(idea.family)) return { idea, down: turnDown(idea, 'its family is banned') }
  const parents = parentsOf(state, idea, request)
  const base = filesOf(state, parents[0] ?? state.baseline ?? '')
  const made = tools.materialise(idea, base, state.settings?.space ?? {})
  if ('failures' in made) {
    const reason = made.failures.map((failure) => failure.reason).join('; ')
    return { idea, down: turnDown(idea, reason), failures: made.failures }
  }
  const fingerprint = tools.fingerprint(made.files, made.knobs)
  const same = state.attempts.find((attempt) => attempt.fingerprint === fingerprint && attempt.origin !== 'ablation')
  if (same !== undefined && plugins.strategy.repeats !== 'run again') {
    const reason = `tried as ${same.id}: ${same.reason ?? 'still being raced'}`
    return { idea, down: { ...turnDown(idea, reason), duplicate_of: same.id } }
  }
  const isTwice = earlier.some((each) => !('down' in each) && each.fingerprint === fingerprint)
  if (isTwice) return { idea, down: turnDown(idea, 'offered twice') }
  return { idea, parents, base, ...made, fingerprint }
}

// Parents that an idea names count where they are known and stand; else those that were asked for.
function parentsOf(state: ResearchState, idea: Idea, request: SearchRequest): readonly string[] {
  const isUsable = (id: string) =>
    state.attempts.some((attempt) => attempt.id === id && attempt.vetoed === undefined && attempt.verdict !== 'failed')
  return idea.parents.length > 0 && idea.parents.every(isUsable) ? idea.parents : request.parents
}

function begin(state: ResearchState, candidate: Candidate, offered: Offered, place: number): NewEntry {
  const { idea, parents, base, files, knobs, fingerprint } = candidate
  const number = state.attempts.length + place
  return {
    ...common(idea, number, offered),
    parents: [...parents],
    knobs,
    fingerprint,
    lines: lineCount(files),
    files: changesBetween(base, files),
  }
}

// Nothing could be made of any idea: the first that is code becomes an attempt, so that its proposer may repair it.
function beginBroken(
  state: ResearchState,
  idea: Idea,
  failures: readonly AttemptFailure[],
  offered: Offered,
): NewEntry[] {
  const number = state.attempts.length
  const parents = [...parentsOf(state, idea, offered.request)]
  const base = state.attempts.find(({ id }) => id === parents[0])
  const begun = { parents, knobs: {}, fingerprint: `broken:${number}`, lines: base?.lines ?? 0, files: {} }
  return [
    { ...common(idea, number, offered), ...begun },
    { type: 'attempt.checked', attempt: `a${number}`, failures: [...failures] },
  ]
}

function common(idea: Idea, number: number, { origin, call, request }: Offered) {
  return {
    type: 'attempt.begun' as const,
    attempt: `a${number}`,
    number,
    origin,
    worker: 0,
    ...(call === undefined ? {} : { call }),
    idea,
    title: idea.title,
    hypothesis: idea.hypothesis,
    family: idea.family,
    category: idea.category,
    mode: request.mode,
  }
}

function turnDown({ title, family }: Idea, reason: string): TurnedDown {
  return { title, family, reason }
}
