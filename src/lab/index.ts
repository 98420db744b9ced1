// What other rooms may use of the lab.
import type { ConfigSource, FindWeights } from '../config/index.ts'
import type { ExperimentResult } from '../contracts/index.ts'
import type { RunExperimentOptions } from './experiment/experiment-session.ts'

/** The controller of experiments. Imported on demand: most commands need neither a database nor statistics. */
export function loadLab(): Promise<typeof import('./controller.ts')> {
  return import('./controller.ts')
}

/** Leads names of weights to their addresses in the record, which is opened when there is a name. Absent `projectDir`: of the file. */
export function weightsOfRecord(projectDir: string | undefined, signal: AbortSignal | undefined): FindWeights {
  return async (name, kind, project, base) => {
    const { recordedWeights } = await import('./evaluation/target-client.ts')
    return await recordedWeights(name, kind, { projectDir: projectDir ?? project, base, signal })
  }
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

export type { ProcessLevelChoice as SandboxChoice } from '../sandbox/index.ts'
export type { RunExperimentOptions } from './experiment/experiment-session.ts'
export type { CandidateCode, CandidateRuns, CheckedCandidate } from './experiment/run-candidates.ts'
export type { ReproductionCheck } from './reproduction/check-reproduction.ts'
export type { Rescored } from './reproduction/rescore-experiment.ts'
export type { JobFile } from './trials/read-job-file.ts'
