// What other rooms may use of the lab.
import type { ConfigSource } from '../config/index.ts'
import type { ExperimentResult } from '../contracts/index.ts'
import type { RunExperimentOptions } from './experiment/experiment-session.ts'

/** What commands do with experiments. Imported on demand: most need neither a database nor statistics. */
export async function loadLab() {
  const [evaluation, kept, target, conclusion, lease, run, reproduction, rescore, jobFile, taskFolders, cores] =
    await Promise.all([
      import('./evaluation/evaluate-model.ts'),
      import('./evaluation/kept-evals.ts'),
      import('./evaluation/target-client.ts'),
      import('./experiment/conclude-experiment.ts'),
      import('./experiment/begin-experiment.ts'),
      import('./experiment/run-experiment.ts'),
      import('./reproduction/check-reproduction.ts'),
      import('./reproduction/rescore-experiment.ts'),
      import('./trials/read-job-file.ts'),
      import('./trials/run-task-folders.ts'),
      import('./workers/core-leases.ts'),
    ])
  const ours = { ...evaluation, ...kept, ...target, ...conclusion, ...lease, ...run }
  return { ...ours, ...reproduction, ...rescore, ...jobFile, ...taskFolders, ...cores }
}

/**
 * Runs an experiment to its conclusion and writes the same record as `evsys run`. Wrong input throws before anything starts; a
 * run that fails does not throw.
 */
export async function runExperiment(
  source: string | ConfigSource,
  options: RunExperimentOptions = {},
): Promise<ExperimentResult> {
  const { runExperiment: run } = await import('./experiment/run-experiment.ts') // brings the database when it is needed
  return run(source, options)
}

export type { RunExperimentOptions } from './experiment/experiment-session.ts'
export type { ReproductionCheck } from './reproduction/check-reproduction.ts'
export type { Rescored } from './reproduction/rescore-experiment.ts'
export type { JobFile } from './trials/read-job-file.ts'
