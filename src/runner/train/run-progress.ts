// Training begins, or begins again at an earlier step: callbacks cut back what they wrote beyond it, and know again what they knew.
import type { GuardTrip, Metrics, StepScope } from '../../contracts/index.ts'
import { type RunScope, stepScope } from './run-scope.ts'
import type { Trip } from './watch-guards.ts'

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

// What follows the update of every step: it is reported, and callbacks see it.
export async function reportStep(scope: RunScope, at: StepScope, metrics: Metrics): Promise<void> {
  await scope.reporter.report({ type: 'step.finished', step: at.step, metrics: finite(metrics) })
  await scope.callbacks.call('onStepEnd', at, metrics)
}

/** A trip of a run that stays where it is: it continues, or ends there. */
export async function reportTrip({ reporter }: RunScope, { since: _, ...trip }: Trip): Promise<GuardTrip> {
  await reporter.report({ type: 'guard.tripped', ...trip })
  return trip
}

/** A metric that is no number says nothing a chart could show; the guard has seen the loss already. */
export function finite(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)))
}

// A callback's request to end training, and the step after which it is granted. One that follows from an evaluation is granted at
// the next fixed step, however early its answers were there: a run that was interrupted meanwhile ends at the same step.
export type StopRequest = ReturnType<typeof createStopRequest>

export function createStopRequest(nextFixed: (step: number) => number) {
  let granted: { reason: string; after: number } | undefined
  const ask = (reason: string, after: number) => {
    if (granted === undefined || after < granted.after) granted = { reason, after }
  }
  return {
    get reason() {
      return granted?.reason
    },
    /** True: training ends before this step. */
    isDue: (step: number) => granted !== undefined && step > granted.after,
    /** Granted after this step. */
    now: (step: number) => (reason: string) => ask(reason, step),
    /** Granted after the first fixed step that follows this one. */
    from: (step: number) => (reason: string) => ask(reason, nextFixed(step)),
    reset() {
      granted = undefined
    },
  }
}
