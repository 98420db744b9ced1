// What comes before anything new: steering that waits for its effect, and work that a dead controller had begun.
import type { BegunWork, ResearchAttempt, ResearchCall, ResearchEntryOf, ResearchState } from '../../contracts/index.ts'
import { keepEntries } from './decide-attempt.ts'
import { capOnCall } from './session-budget.ts'
import type { NewEntry } from './session-journal.ts'
import { attemptOf } from './session-views.ts'
import { type Deciding, obsoleteRun, type Step } from './step.ts'

/**
 * Vetoes and overrides become verdicts. An incumbent that a person takes away gives its place to the last one before it that was not
 * discarded.
 */
export function decideSteering(deciding: Deciding): Step | undefined {
  const [first] = deciding.state.unanswered
  if (first === undefined || !('attempt' in first.steering)) return undefined
  const { steering, author } = first
  const wantsKeep = steering.action === 'override' && steering.verdict === 'keep'
  return {
    kind: 'write',
    entries: wantsKeep ? keepFor(deciding, first) : dropFor(deciding.state, steering.attempt, author),
  }
}

function keepFor({ state, plugins }: Deciding, { steering, author }: ResearchEntryOf<'steered'>): NewEntry[] {
  const id = 'attempt' in steering ? steering.attempt : ''
  const { gain } = attemptOf(state, id)
  const reason = `Kept by ${author}.`
  const verdict: NewEntry = { type: 'verdict', attempt: id, verdict: 'provisional', reason, author, gain }
  return state.incumbent === id ? [verdict] : [verdict, ...keepEntries(state, plugins, id)]
}

function dropFor(state: ResearchState, id: string, author: string): NewEntry[] {
  const reason = `Discarded by ${author}.`
  const verdict: NewEntry = { type: 'verdict', attempt: id, verdict: 'discarded', reason, author }
  if (state.incumbent !== id || id === state.baseline) return [verdict]
  const before = state.kept.findLast((each) => each !== id && stands(state, each)) ?? state.baseline ?? id
  return [verdict, { type: 'kept', attempt: before, before: id }]
}

function stands(state: ResearchState, id: string): boolean {
  const { verdict, vetoed } = attemptOf(state, id)
  return vetoed === undefined && (verdict === 'provisional' || verdict === 'confirmed')
}

/**
 * Work that a controller had begun when it died is begun again, in the same order: then the session is where it was. Work that is no
 * longer wanted, because people decided its attempt meanwhile, is closed.
 */
export function decideInterrupted({ state, busy }: Pick<Deciding, 'state' | 'busy'>): Step | undefined {
  for (const work of state.begun) {
    if (busy.has(busyKey(work))) continue
    const step = again(state, work)
    if (step !== undefined) return step
  }
  return undefined
}

function busyKey(work: BegunWork): string {
  if (work.kind === 'call') return `call:${work.call}`
  return work.kind === 'run' ? `run:${work.run}` : `attempt:${work.attempt}`
}

function again(state: ResearchState, work: BegunWork): Step | undefined {
  if (work.kind === 'call') {
    const call = state.calls.find((each) => each.call === work.call)
    return call === undefined ? undefined : askAgain(state, call)
  }
  const attempt = state.attempts.find(({ id }) => id === work.attempt)
  if (attempt === undefined) return undefined
  if (work.kind === 'check') return attempt.verdict === undefined ? { kind: 'check', attempt: attempt.id } : undefined
  return runAgain(attempt, work.run)
}

// It was sent and never answered: its bill is unknown and is charged.
function askAgain(state: ResearchState, { call, intent }: ResearchCall): Step {
  const { at: _at, ...sent } = intent
  const lost = { type: 'call.lost' as const, call, sending: intent.sending, charged: intent.forecast }
  const repaired = state.attempts.find(({ id }) => id === intent.attempt)
  const isDecided = repaired?.verdict !== undefined
  // It is booked as open: what its first sending may have cost has to fit as well.
  if (isDecided || capOnCall(state, intent.forecast) !== undefined) {
    const reason = isDecided ? 'its attempt was decided meanwhile' : 'no cap has room to send it again'
    return { kind: 'write', entries: [lost, { type: 'call.failed', call, reason }] }
  }
  return { kind: 'ask', lost, intent: { ...sent, sending: intent.sending + 1 } }
}

function runAgain(attempt: ResearchAttempt, name: string): Step | undefined {
  const known = attempt.runs.find(({ run }) => run === name)
  if (known === undefined) return undefined
  const { run, seed, split, purpose } = known
  const step = { run, attempt: attempt.id, seed, split, purpose }
  const isWanted = purpose !== 'race' || attempt.verdict === undefined
  return isWanted ? { kind: 'run', ...step } : { kind: 'write', entries: [obsoleteRun(step)] }
}
