// Back to a checkpoint from before the steps that went wrong. The caller goes on from there at a lower rate, or ends there.
import type { GuardTrip } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { MOST_ROLL_BACKS, type Trip } from './guards/watch.ts'
import type { RunScope } from './run-scope.ts'
import type { LoopOptions } from './training-loop.ts'

/**
 * The trip as it was told. Undefined: the run that is to end keeps what it has, since a checkpoint was the best on validation, or
 * there is none to go back to.
 */
export async function rollBack(
  scope: RunScope,
  { reopen }: Pick<LoopOptions, 'reopen'>,
  { step, since, reason, action, text }: Trip,
  { rate, rollBacks }: { rate: number; rollBacks: number },
): Promise<GuardTrip | undefined> {
  const { book, reporter } = scope
  if (action === 'roll_back' && rollBacks >= MOST_ROLL_BACKS) {
    throw new EvsysError(
      'RUN_DIVERGED',
      `training collapsed (${reason}) at step ${step}, after ${MOST_ROLL_BACKS} roll-backs`,
      { fix: 'lower learning_rate, set grad_clip_norm, or look at the rows of that step' },
    )
  }
  // Where checkpoints are so close that none from before is left, the oldest is the best there is.
  const state = book.stateBefore(since - 1) ?? book.oldestState
  if (action === 'stop' && (state === undefined || book.bestStep !== undefined)) return undefined
  await scope.model[Symbol.asyncDispose]()
  scope.model = await reopen(state === undefined ? undefined : { uri: state.uri, optimizer: true })
  book.rollBackTo(state?.step ?? -1)
  scope.evals = scope.evals.filter((each) => each.step <= (state?.step ?? -1))
  const trip: GuardTrip = {
    ...{ step, reason, action },
    ...(state === undefined ? {} : { rolled_back_to: state.step }),
    ...(text === undefined ? {} : { text }),
  }
  await reporter.tell({ type: 'guard.tripped', ...trip, ...(action === 'stop' ? {} : { learning_rate: rate / 2 }) })
  return trip
}
