// What people say to a session, in its fold. It changes what the controller decides next; verdicts that they overrule are entries
// of their own, written by the controller.
import { changeAttempt } from './change-attempt.ts'
import type { ResearchEntryOf } from './journal.ts'
import type { ResearchState } from './session-state.ts'

export function reduceSteering(state: ResearchState, entry: ResearchEntryOf<'steered'>): ResearchState {
  const { author, steering } = entry
  const steered = { ...state, steered: [...state.steered, entry], forgivenCalls: state.calls.length }
  switch (steering.action) {
    case 'add_idea': {
      const { text, idea } = steering
      return { ...steered, backlog: [...state.backlog, { author, text, ...(idea === undefined ? {} : { idea }) }] }
    }
    case 'ban_family':
      return { ...steered, banned: [...new Set([...state.banned, steering.family])] }
    case 'allow_family':
      return { ...steered, banned: state.banned.filter((family) => family !== steering.family) }
    case 'pin':
      return { ...steered, pinned: steering.attempt }
    case 'unpin':
      return withoutPin(steered)
    case 'veto':
      return {
        ...(state.pinned === steering.attempt ? withoutPin(steered) : steered),
        unanswered: awaited(state, entry),
        attempts: changeAttempt(state, steering.attempt, (attempt) => ({ ...attempt, vetoed: author })),
      }
    case 'override':
      return {
        ...steered,
        unanswered: awaited(state, entry),
        // Who keeps it takes an earlier veto back.
        attempts: changeAttempt(state, steering.attempt, (attempt) => {
          const { vetoed: _vetoed, ...free } = attempt
          return steering.verdict === 'keep' ? free : attempt
        }),
      }
    case 'confirm':
      return { ...steered, lookRequested: true }
    case 'pause':
      return { ...steered, paused: true }
    case 'resume':
      return { ...steered, paused: false }
  }
}

function withoutPin({ pinned: _pinned, ...free }: ResearchState): ResearchState {
  return free
}

// Answered by the controller with a verdict. What names no attempt can have no answer.
function awaited(
  { attempts, unanswered }: ResearchState,
  entry: ResearchEntryOf<'steered'>,
): ResearchState['unanswered'] {
  const { steering } = entry
  const isKnown = 'attempt' in steering && attempts.some(({ id }) => id === steering.attempt)
  return isKnown ? [...unanswered, entry] : unanswered
}
