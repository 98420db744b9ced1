// What other rooms may use of the lab.
import type { ConfigSource } from '../config/index.ts'
import type { ExperimentResult } from '../contracts/index.ts'
import type { RunExperimentOptions } from './experiment/run-experiment.ts'

export { builtins } from './builtins.ts'

/** Experiments and their record. Imported on demand: most commands need neither a database nor statistics. */
export function loadLab(): Promise<typeof import('./record/index.ts')> {
  return import('./record/index.ts')
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

export type { Rescored } from './evaluation/rescore-experiment.ts'
export type { RunExperimentOptions } from './experiment/run-experiment.ts'
export type { JobFile } from './folders/read-job-file.ts'
export type { ReproductionCheck } from './record/check-reproduction.ts'
export type { Comparison } from './record/compare-experiments.ts'
export type { PlanForecast } from './record/plan-forecast.ts'
export type { PlanPower } from './record/plan-power.ts'
export type { Standing } from './record/standing.ts'
