// What follows the update of every step: it is told, and callbacks see it.
import type { GuardTrip, Metrics, StepScope } from '../../contracts/index.ts'
import type { Trip } from './guards/watch.ts'
import type { RunScope } from './run-scope.ts'

export async function tellStep(scope: RunScope, at: StepScope, metrics: Metrics): Promise<void> {
  await scope.reporter.tell({ type: 'step.finished', step: at.step, metrics: finite(metrics) })
  await scope.callbacks.call('onStepEnd', at, metrics)
}

/** A trip of a run that stays where it is: it goes on, or ends there. */
export async function tellTrip({ reporter }: RunScope, { since: _, ...trip }: Trip): Promise<GuardTrip> {
  await reporter.tell({ type: 'guard.tripped', ...trip })
  return trip
}

/** A metric that is no number says nothing a chart could show; the guard has seen the loss already. */
export function finite(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)))
}
