// What strategies and proposers may know of a session. Nothing of the hidden split is among it.
import type { Attempt, ResearchAttempt, ResearchState, SearchState } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

export function searchState(state: ResearchState): SearchState {
  const { settings, incumbent, banned, pinned } = state
  if (settings === undefined || incumbent === undefined) throw new EvsysError('INTERNAL', 'the session has not begun')
  const cap = settings.budget.experiments
  return {
    direction: settings.direction,
    attempts: state.attempts.filter(({ vetoed }) => vetoed === undefined).map(known),
    incumbent,
    space: settings.space,
    banned,
    ...(pinned === undefined ? {} : { pinned }),
    ...(cap === undefined ? {} : { experimentsLeft: Math.max(0, cap - state.spend.experiments) }),
  }
}

function known(attempt: ResearchAttempt): Attempt {
  const { id, number, parents, title, hypothesis, family, category, mode, knobs, fingerprint, lines, scores } = attempt
  const { gain, verdict, reason, failure } = attempt
  return {
    id,
    number,
    parents,
    title,
    hypothesis,
    family,
    category,
    mode,
    knobs,
    fingerprint,
    lines,
    scores,
    ...(gain === undefined ? {} : { gain }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(reason === undefined ? {} : { reason }),
    ...(failure === undefined ? {} : { failure }),
  }
}
