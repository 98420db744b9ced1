// Training begins, or begins again at an earlier step: callbacks cut back what they wrote beyond it, and know again what they knew.
import { type RunScope, stepScope } from './run-scope.ts'
import type { StopRequest } from './stop-request.ts'

/** A callback that asked to stop at an evaluation which is kept asks again. */
export async function startTraining(
  { assignment, callbacks, evals }: RunScope,
  { firstStep, numSteps }: { firstStep: number; numSteps: number },
  stop: Pick<StopRequest, 'now' | 'from'>,
): Promise<void> {
  await callbacks.call('onTrainStart', stepScope(assignment, firstStep, numSteps, stop.now(firstStep - 1)))
  for (const { benchmark, split, step, metrics } of evals) {
    await callbacks.call('onEval', stepScope(assignment, step, numSteps, stop.from(step)), benchmark, split, metrics)
  }
}
