// Saves a run at a step, tells of it, and lets go of checkpoints that are no longer needed.
import type { RunScope } from './run-scope.ts'
import { stepScope } from './run-scope.ts'

export async function saveCheckpoint(
  scope: RunScope,
  step: number,
  { numSteps, sampler, final = false }: { numSteps: number; sampler: boolean; final?: boolean },
): Promise<void> {
  const { assignment, book, callbacks, model, reporter } = scope
  const kinds = sampler ? (['sampler', 'state'] as const) : (['state'] as const) // the state last: a resume finds both
  for (const kind of kinds) {
    if (book.has(step, kind) && !final) continue
    const saved = book.has(step, kind) ? undefined : await model.save(nameOf(step, assignment.attempt), kind)
    const uri = saved?.uri ?? book.uri(step, kind)
    if (uri === undefined) continue
    book.add({ step, kind, uri })
    await reporter.tell({ type: 'checkpoint.saved', step, kind, ref: uri, final })
    if (saved === undefined) continue // the end of the run coincides with a checkpoint: there is one, and it was told of
    const at = stepScope(assignment, step, numSteps, () => {})
    await callbacks.call('onCheckpoint', at, { kind, uri })
  }
}

// An attempt saves under names of its own: what a crash left half done never stands in the way.
function nameOf(step: number, attempt: number): string {
  return attempt === 1 ? `step_${step + 1}` : `step_${step + 1}.${attempt}`
}
