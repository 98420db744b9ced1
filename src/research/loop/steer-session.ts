// What a person says to a session. It is written beside what the controller writes, and the controller acts on it at its next step.
import type { ResearchState, Steering } from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { attemptOf } from './candidate-files.ts'
import { openJournal } from './session-journal.ts'

export async function steerSession(
  store: OpenStore,
  experimentId: string,
  { author, steering, clock }: { author: string; steering: Steering; clock: Clock },
): Promise<ResearchState> {
  const journal = await openJournal({ store, experimentId, clock })
  const { state } = journal
  if ('attempt' in steering) {
    const attempt = attemptOf(state, steering.attempt)
    const isDrop = steering.action === 'veto' || (steering.action === 'override' && steering.verdict === 'discard')
    if (attempt.id === state.baseline && isDrop) {
      throw new EvsysError('CLI_USAGE', 'the baseline cannot be discarded: everything is compared with it')
    }
  }
  await journal.append([{ type: 'steered', author, steering }])
  return journal.state
}
