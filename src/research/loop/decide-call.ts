// Calls of the proposer: when one is made, and what becomes of the answer.
import type {
  AttemptFailure,
  CandidateFiles,
  Idea,
  Knobs,
  ResearchAttempt,
  ResearchCall,
  ResearchState,
  SearchRequest,
  TurnedDown,
} from '../../contracts/index.ts'
import { materialise } from '../propose/materialise.ts'
import { forecastOf } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { changesBetween, filesOf, lineCount, searchState } from './session-views.ts'
import type { AskStep, Deciding, Step } from './step.ts'

/** A new question. */
export function decideAsk(deciding: Deciding): Step | undefined {
  const { state, plugins, busy } = deciding
  const cap = state.settings?.budget.experiments
  const asked = state.calls.filter(({ purpose, used }) => purpose === 'propose' && !used).length
  if (cap !== undefined && state.spend.experiments + asked >= cap) return undefined
  if (asked > 0 && busy.size === 0) return undefined
  return callOf(deciding, plugins.next(searchState(state), [state.calls.length + 1]))
}

/** A question about a candidate that may not run. */
export function repairCall(deciding: Deciding, { id, parents, mode }: ResearchAttempt): AskStep {
  return callOf(deciding, { parents, mode, ideas: 1, avoidFamilies: [] }, id)
}

function callOf({ state, plugins }: Deciding, request: SearchRequest, attempt?: string): AskStep {
  const { parents, mode, ideas, avoidFamilies } = request
  return {
    kind: 'ask',
    intent: {
      type: 'call.intended',
      call: `c${state.calls.length + 1}`,
      sending: 1,
      worker: 0,
      purpose: attempt === undefined ? 'propose' : 'repair',
      proposer: plugins.proposer.kind,
      parents: [...parents],
      mode,
      ideas,
      avoid_families: [...avoidFamilies],
      attempt,
      forecast: forecastOf(state, plugins.asksModel).call,
    },
  }
}

/** An answer that was not read yet. */
export function decideAnswer(deciding: Deciding): Step | undefined {
  const { state } = deciding
  const answered = state.calls.find(({ status, used }) => status === 'answered' && !used)
  if (answered === undefined) return undefined
  if (answered.purpose === 'repair') return { kind: 'write', entries: repaired(deciding, answered) }
  const { ideas, call } = answered
  const offered: Offered = { ideas, request: requestOf(answered), call, origin: 'proposer' }
  return { kind: 'write', entries: chooseIdeas(deciding, offered) }
}

export function requestOf({ intent }: ResearchCall): SearchRequest {
  const { parents, mode, ideas, avoid_families } = intent
  return { parents, mode, ideas, avoidFamilies: avoid_families }
}

/** An idea of a person that needs no proposer. */
export function decideReadyIdea(deciding: Deciding): Step | undefined {
  const { state } = deciding
  const ready = state.backlog.find(({ idea }) => idea !== undefined)
  if (ready?.idea === undefined) return undefined
  const parents = [state.pinned ?? state.incumbent ?? '']
  const request: SearchRequest = { parents, mode: 'improve', ideas: 1, avoidFamilies: [] }
  return { kind: 'write', entries: chooseIdeas(deciding, { ideas: [ready.idea], request, origin: 'author' }) }
}

function repaired({ state, fingerprint }: Deciding, { call, ideas, intent }: ResearchCall): NewEntry[] {
  const attempt = state.attempts.find(({ id }) => id === intent.attempt)
  const [idea] = ideas
  if (attempt === undefined || attempt.verdict !== undefined) return [rejected(call, idea, 'its attempt has ended')]
  if (idea === undefined) {
    const { id, failures } = attempt
    const reason = failedText(failures[0])
    const verdict: NewEntry = { type: 'verdict', attempt: id, verdict: 'failed', reason, failure: failures[0] }
    return [rejected(call, idea, 'the proposer has no repair'), verdict]
  }
  const base = filesOf(state, attempt.parents[0] ?? state.baseline ?? '')
  const made = materialise(idea, base, state.settings)
  const begun = { type: 'attempt.repaired' as const, attempt: attempt.id, turn: attempt.repairs + 1, call, idea }
  if ('failures' in made) {
    const { knobs, fingerprint: same, lines, files } = attempt
    return [
      { ...begun, knobs, fingerprint: same, lines, files },
      { type: 'attempt.checked', attempt: attempt.id, failures: [...made.failures] },
    ]
  }
  const { files, knobs } = made
  const fixed = {
    knobs,
    fingerprint: fingerprint(files, knobs),
    lines: lineCount(files, state.settings?.catalog?.document),
  }
  return [{ ...begun, ...fixed, files: changesBetween(base, files) }]
}

function rejected(call: string, idea: Idea | undefined, reason: string): NewEntry {
  return { type: 'ideas.rejected', call, ideas: idea === undefined ? [] : [turnDown(idea, reason)] }
}

/** Why an attempt failed, for people. */
export function failedText(failure: AttemptFailure | undefined): string {
  return failure === undefined ? 'it may not run' : `Failed (${failure.class}): ${failure.reason}`
}

interface Offered {
  readonly ideas: readonly Idea[]
  readonly request: SearchRequest
  /** Absent: they come from a person. */
  readonly call?: string | undefined
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
  | { readonly idea: Idea; readonly down: TurnedDown; readonly failures?: readonly AttemptFailure[] | undefined }

/**
 * From ideas to attempts: those that repeat something are answered from memory, those that cannot be made are turned down, the others
 * are ranked by the strategy, and the best begin. All of it is one decision, written as a whole.
 */
function chooseIdeas(deciding: Deciding, offered: Offered): NewEntry[] {
  const { state, plugins } = deciding
  const read: Read[] = []
  for (const idea of offered.ideas) read.push(readIdea(deciding, idea, offered, read))
  const candidates = read.filter((each): each is Candidate => !('down' in each))
  const places =
    offered.origin === 'author'
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
  const rejected: NewEntry[] = [{ type: 'ideas.rejected', call: offered.call, ideas: down }]
  if (begun.length > 0) return down.length > 0 && offered.call !== undefined ? [...begun, ...rejected] : begun
  const broken = read.find((each) => 'failures' in each && each.idea.change.kind !== 'knobs')
  return broken !== undefined && 'failures' in broken && broken.failures !== undefined && room > 0
    ? beginBroken(state, broken.idea, broken.failures, offered)
    : rejected
}

function readIdea(
  { state, fingerprint: fingerprintOf, plugins }: Deciding,
  idea: Idea,
  { request }: Offered,
  earlier: readonly Read[],
): Read {
  if (state.banned.includes(idea.family)) return { idea, down: turnDown(idea, 'its family is banned') }
  const parents = parentsOf(state, idea, request)
  const base = filesOf(state, parents[0] ?? state.baseline ?? '')
  const made = materialise(idea, base, state.settings)
  if ('failures' in made) {
    const reason = made.failures.map((failure) => failure.reason).join('; ')
    return { idea, down: turnDown(idea, reason), failures: made.failures }
  }
  const fingerprint = fingerprintOf(made.files, made.knobs)
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
    lines: lineCount(files, state.settings?.catalog?.document),
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
    call,
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
