// A teacher that follows its student: every N steps it takes the student's weights and stays with them. Which weights these are follows
// from the number of the step. They live no longer than the process: a run that goes on between two such steps takes its teacher from
// where it goes on, and tells so in the version; one that goes on at such a step has the teacher that it had.
import type { KeptPolicy, StepContext, Weights } from '../../contracts/index.ts'

export interface SyncedTeacher {
  readonly weights: Weights
  /** Optimiser steps that the teacher had seen. */
  readonly version: number
}

type Context = Pick<StepContext<unknown>, 'step' | 'reference' | 'keepPolicy' | 'once'>

/** The teacher of a step; `every` undefined: the start of the run. */
export async function syncedTeacher(
  { step, reference, keepPolicy, once }: Context,
  every: number | undefined,
): Promise<SyncedTeacher> {
  const due = every === undefined ? 0 : step - (step % every)
  if (due === 0) return { weights: reference, version: 0 }
  const kept = await once(
    'distill/synced-teacher',
    async (): Promise<{ due: number; policy?: KeptPolicy }> => ({ due: 0 }),
  )
  if (kept.due !== due) {
    await kept.policy?.release()
    kept.policy = await keepPolicy()
    kept.due = due
  }
  return kept.policy ?? { weights: reference, version: 0 }
}
