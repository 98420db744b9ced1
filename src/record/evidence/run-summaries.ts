// The runs of an experiment as documents show them: what each scored, what it left, where its files lie.
import { access } from 'node:fs/promises'
import type { Artifact, RunScore, RunSummary } from '../../contracts/index.ts'
import type { ExperimentRow, OpenStore, RunRow } from '../../store/index.ts'
import { answersFile, filesOf, runFolder } from '../files/experiment-folder.ts'
import { selectedEval } from './arm-scores.ts'
import { isReused } from './held-runs.ts'
import type { RecordedRun } from './weigh-evidence.ts'

/** Where the files of an experiment lie. */
export interface FilePlaces {
  readonly projectDir?: string | undefined
  /** Folder of the experiment; null: not on this machine. */
  readonly files: string | null
}

export async function placesOf(experiment: ExperimentRow, projectDir: string): Promise<FilePlaces> {
  return { projectDir, files: (await filesOf(experiment, projectDir)) ?? null }
}

export async function runSummaries(
  store: OpenStore,
  runs: readonly RecordedRun[],
  places?: FilePlaces,
): Promise<RunSummary[]> {
  return await Promise.all(
    runs.map(async ({ run, evals }): Promise<RunSummary> => {
      const { files } = places ?? {}
      return {
        run_id: run.id,
        name: run.name,
        arm: run.arm,
        seed: run.seed,
        stage: run.stage,
        status: run.status,
        steps: run.numSteps,
        best_step: run.bestStep,
        scores: await runScores(
          { run, evals },
          (isReused(run) ? await store.run(run.parentRun ?? '') : run) ?? run,
          places?.projectDir,
        ),
        metrics: run.metrics,
        artifacts: await runArtifacts(store, run),
        files: files == null ? undefined : runFolder(files, run.name),
        cost_usd: run.costUsd,
        tokens: run.tokens,
        wall_s: run.wallS,
        invalid: run.invalid,
        reused_from: await reusedFrom(store, run),
        error: run.error,
      }
    }),
  )
}

// Answers lie where they were given: of a reused run, with its origin.
async function runScores(
  { run, evals }: RecordedRun,
  answered: RunRow,
  projectDir: string | undefined,
): Promise<RunScore[]> {
  const benchmarks = [...new Set(evals.map(({ benchmark }) => benchmark))]
  const selected = benchmarks.flatMap((benchmark) => selectedEval(run, evals, benchmark) ?? [])
  return await Promise.all(
    selected.map(async ({ benchmark, split, step, metrics, bounds, nTasks, nInfraFailed, scorerHash }) => {
      const file = projectDir === undefined ? undefined : answersFile(projectDir, answered, { benchmark, step })
      return {
        benchmark,
        split,
        step,
        metrics,
        bounds,
        n_tasks: nTasks,
        n_infra_failed: nInfraFailed,
        scorer_hash: scorerHash,
        answers: file !== undefined && (await isThere(file)) ? file : undefined,
      }
    }),
  )
}

/** What a run left: checkpoints that still exist, and what its algorithm returned. */
export async function runArtifacts(store: OpenStore, { id }: Pick<RunRow, 'id'>): Promise<Artifact[]> {
  const checkpoints = await store.checkpoints(id)
  return [
    ...checkpoints.map(({ step, kind, ref }) => ({ name: `step_${step + 1}`, kind, ref })),
    ...(await store.artifacts(id)),
  ]
}

/** The run that a reused one repeats. */
async function reusedFrom(store: OpenStore, run: RunRow): Promise<RunSummary['reused_from']> {
  if (!isReused(run)) return undefined
  const origin = await store.run(run.parentRun ?? '')
  return { experiment_id: origin?.experimentId ?? '', run_id: run.parentRun ?? '' }
}

async function isThere(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  )
}
