// Deletes checkpoints that are no longer needed, and tells of it. A service that keeps what it has leaves them in the record too.
import type { Ref } from '../../contracts/index.ts'
import type { Checkpoint } from './checkpoint-book.ts'
import type { RunScope } from './run-scope.ts'

export async function letGo(scope: RunScope, checkpoints: readonly (Checkpoint & Ref)[]): Promise<void> {
  for (const each of checkpoints) {
    if (!(await scope.model.drop(each))) continue
    scope.book.drop(each)
    await scope.reporter.tell({ type: 'checkpoint.dropped', step: each.step, kind: each.kind })
  }
}
