// Work that a controller had begun when it died is begun again before anything else, in the same order: then the session is where it
// was. Work that nobody wants any more, because people decided its attempt meanwhile, is closed.
import type { BegunWork, ResearchAttempt, ResearchCall, ResearchState } from '../../contracts/index.ts'
import { capOnCall } from './session-budget.ts'
import type { Deciding, Step } from './step.ts'

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
  if (purpose !== 'race' || attempt.verdict === undefined) {
    return { kind: 'run', run, attempt: attempt.id, seed, split, purpose }
  }
  const outcome = { status: 'killed' as const, reason: 'its attempt was decided meanwhile' }
  return {
    kind: 'write',
    entries: [{ type: 'run.finished', run, attempt: attempt.id, seed, split, purpose, outcome, wall_s: 0 }],
  }
}
