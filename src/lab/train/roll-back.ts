// Back to the newest checkpoint when training has collapsed. The caller goes on from there at a lower rate.
import { EvsysError } from '../../kernel/index.ts'
import type { Collapse } from './collapse-guard.ts'
import type { RunScope } from './run-scope.ts'
import type { LoopOptions } from './training-loop.ts'

/** Roll-backs before a run is given up. */
const MOST_TRIPS = 3

/** The step that is kept as the last one; -1: none is. */
export async function rollBack(
  scope: RunScope,
  { reopen }: Pick<LoopOptions, 'reopen'>,
  { step, collapse, trips, rate }: { step: number; collapse: Collapse; trips: number; rate: number },
): Promise<number> {
  if (trips > MOST_TRIPS) {
    throw new EvsysError(
      'RUN_DIVERGED',
      `training collapsed (${collapse}) at step ${step}, after ${MOST_TRIPS} roll-backs`,
      { fix: 'lower learning_rate, set grad_clip_norm, or look at the rows of that step' },
    )
  }
  const state = scope.book.stateBefore(step - 1)
  await scope.model[Symbol.asyncDispose]()
  scope.model = await reopen(state === undefined ? undefined : { uri: state.uri, optimizer: true })
  scope.book.rollBackTo(state?.step ?? -1)
  await scope.reporter.tell({
    type: 'guard.tripped',
    step,
    reason: collapse,
    learning_rate: rate,
    ...(state === undefined ? {} : { rolled_back_to: state.step }),
  })
  return state?.step ?? -1
}
