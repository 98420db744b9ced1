// What a person says to a session. It is written beside what the controller writes, and the controller acts on it at its next step.
import type { ResearchState, Steering } from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
import { looksLeft } from '../judge/index.ts'
import { attemptOf } from './candidate-files.ts'
import { lookRecords } from './race-state.ts'
import { openJournal } from './session-journal.ts'

export async function steerSession(
  store: OpenStore,
  experimentId: string,
  { author, steering, clock }: { author: string; steering: Steering; clock: Clock },
): Promise<ResearchState> {
  const journal = await openJournal({ store, experimentId, clock })
  const { state } = journal
  requireSense(state, steering)
  await journal.append([{ type: 'steered', author, steering }])
  return journal.state
}

// What could have no effect is refused while its author still listens.
function requireSense(state: ResearchState, steering: Steering): void {
  if (steering.action === 'confirm' && looksLeft(lookRecords(state)) === 0) {
    throw new EvsysError('CLI_USAGE', 'no look at the hidden split is left but the one at the end')
  }
  // One that nobody works on goes on when somebody resumes it, and is not paused then.
  if ((steering.action === 'pause' || steering.action === 'resume') && state.status !== 'running') {
    const how = 'evsys research run --resume'
    throw new EvsysError(
      'CLI_USAGE',
      `the session ${state.status === 'ended' ? 'has ended' : 'is interrupted'}: nothing runs that could ${steering.action === 'pause' ? 'pause' : 'go on'}`,
      {
        fix:
          state.status === 'ended' ? `\`${how} --max-experiments N\` goes on with it.` : `\`${how}\` goes on with it.`,
      },
    )
  }
  if (!('attempt' in steering)) return
  const { id, verdict, vetoed, failures } = attemptOf(state, steering.attempt)
  const isKeep = steering.action === 'override' && steering.verdict === 'keep'
  const isDrop = steering.action === 'veto' || (steering.action === 'override' && steering.verdict === 'discard')
  if (id === state.baseline && isDrop) {
    throw new EvsysError('CLI_USAGE', 'the baseline cannot be discarded: everything is compared with it')
  }
  if ((isKeep || steering.action === 'pin') && (verdict === 'failed' || failures.length > 0)) {
    throw new EvsysError('CLI_USAGE', `${id} did not run: nothing can go on from it`, {
      fix: '`evsys research status` says why; `evsys research steer add-idea` asks for another try.',
    })
  }
  if (steering.action === 'pin' && vetoed !== undefined) {
    throw new EvsysError('CLI_USAGE', `${id} was vetoed by ${vetoed}`, {
      fix: `keep it first: evsys research steer keep ${id}.`,
    })
  }
}
