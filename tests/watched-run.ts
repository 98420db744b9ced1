// Where a callback stands, for tests: a run in a folder, at a step.
import type { CallbackHooks, CallbackScope, StepScope } from '../src/contracts/index.ts'
import { runAssignment } from './run-assignment.ts'

export interface WatchedRun {
  readonly dir: string
  readonly scope: CallbackScope
  at(step: number): StepScope
  readonly stops: readonly string[]
}

export function watchedRun(folder: string, { numSteps = 10 }: { numSteps?: number | undefined } = {}): WatchedRun {
  const { run_dir: dir, run_id: runId, run_name: name, arm, config } = runAssignment(folder)
  const run = { runId, name, arm, seed: config.seed, dir, config }
  const scope = { experimentId: 'exp_1', experiment: 'test', outputDir: dir, run }
  const stops: string[] = []
  const requestStop = (reason: string) => {
    stops.push(reason)
  }
  return { dir, scope, stops, at: (step) => ({ ...scope, step, numSteps, requestStop }) }
}

/** Runs steps `from` to `to` through the hooks of a callback, as the loop does. */
export async function watchSteps(hooks: CallbackHooks, run: WatchedRun, from: number, to: number): Promise<void> {
  for (let step = from; step < to; step++) await hooks.onStepEnd?.(run.at(step), { loss: 1 / (step + 1), lr: 0.1 })
}
