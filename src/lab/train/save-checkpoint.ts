// Saves a run at a step, and tells of it.
import type { CheckpointKind, Ref } from '../../contracts/index.ts'
import type { Looks } from './looks.ts'
import { type RunScope, stepScope } from './run-scope.ts'

/** Weights that are saved and that nobody was told of yet. */
export type SavedCheckpoint = Ref & {
  readonly step: number
  readonly numSteps: number
  readonly final?: boolean
  /** It was told of before; now it is the end of the run as well. */
  readonly again?: boolean
}

export interface SaveOptions {
  readonly numSteps: number
  readonly sampler: boolean
  readonly final?: boolean
  /** Under way while weights are saved: then the checkpoint is told of when they are over. */
  readonly looks?: Looks
}

export async function saveCheckpoint(
  scope: RunScope,
  step: number,
  { numSteps, sampler, final = false, looks }: SaveOptions,
): Promise<void> {
  const { assignment, book, model } = scope
  const kinds: CheckpointKind[] = sampler ? ['sampler', 'state'] : ['state'] // the state last: a resume finds both
  for (const kind of kinds) {
    const known = book.uri(step, kind)
    if (known !== undefined && !final) continue
    const candidate = kind === 'sampler' ? looks?.candidate(step) : undefined
    const uri = known ?? candidate?.uri ?? (await model.save(checkpointName(step, assignment.attempt), kind)).uri
    const saved = { kind, uri, step, numSteps, final, again: known !== undefined }
    if (looks === undefined) await announceCheckpoint(scope, saved)
    else await looks.announce(saved)
  }
}

/** Enters a checkpoint in the book and tells of it. */
export async function announceCheckpoint(scope: RunScope, saved: SavedCheckpoint): Promise<void> {
  const { assignment, book, callbacks, reporter } = scope
  const { step, kind, uri, numSteps, final = false } = saved
  if (book.has(step, kind) && !final) return
  book.add({ step, kind, uri })
  await reporter.tell({ type: 'checkpoint.saved', step, kind, ref: uri, final })
  if (saved.again === true) return // the end of the run coincides with a checkpoint: there is one, and it was told of
  const at = stepScope(assignment, step, numSteps, () => {})
  await callbacks.call('onCheckpoint', at, { kind, uri })
}

/** An attempt saves under names of its own: what a crash left half done never stands in the way. */
export function checkpointName(step: number, attempt: number): string {
  return attempt === 1 ? `step_${step + 1}` : `step_${step + 1}.${attempt}`
}
