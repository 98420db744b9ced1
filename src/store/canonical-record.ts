// What must be equal between an experiment that was interrupted and resumed and one that was not: everything but times,
// attempts, costs and ids. Two records are the same research exactly when their canonical forms are equal.
import type { CheckpointRow, EvalRow, Metrics, RunRow } from '../contracts/index.ts'
import { canonicalResearch } from './canonical-research.ts'
import type { Database } from './database.ts'
import { hashPoints } from './hash-points.ts'
import { readExperiment } from './read-experiments.ts'
import { readCheckpoints, readEvals, readRuns } from './read-runs.ts'

export interface CanonicalOptions {
  /** Content hash of a checkpoint, by its reference. Without it only step and kind are compared. */
  readonly contentOf?: (ref: string) => Promise<string>
}

/** Undefined: there is no such experiment. */
export async function canonicalRecord(
  database: Database,
  experimentId: string,
  { contentOf }: CanonicalOptions = {},
): Promise<unknown> {
  const experiment = await readExperiment(database, experimentId)
  if (experiment === undefined) return undefined
  const runs = await readRuns(database, experimentId)
  const canonicalRuns: unknown[] = []
  for (const run of runs) canonicalRuns.push(await canonicalRun(database, run, runs, contentOf))
  const research = await canonicalResearch(database, experimentId)
  return {
    name: experiment.name,
    status: experiment.status,
    hypothesis: experiment.hypothesis ?? null,
    tags: experiment.tags,
    config_hash: experiment.configHash,
    verdict: experiment.verdict ?? null,
    conclusion: experiment.conclusion ?? null,
    evidence: withoutMessages(experiment.evidence ?? null),
    words: experiment.words.map(({ author, text }) => ({ author, text })),
    best_arm: experiment.bestArm ?? null,
    runs: canonicalRuns,
    ...(research === undefined ? {} : { research }),
  }
}

async function canonicalRun(
  database: Database,
  run: RunRow,
  runs: readonly RunRow[],
  contentOf: CanonicalOptions['contentOf'],
): Promise<unknown> {
  const nameOf = (id: string | undefined) => runs.find((each) => each.id === id)?.name ?? null
  const checkpoints: unknown[] = []
  for (const each of await readCheckpoints(database, run.id))
    checkpoints.push(await canonicalCheckpoint(each, contentOf))
  return {
    name: run.name,
    arm: run.arm,
    seed: run.seed,
    stage: run.stage ?? null,
    after: nameOf(run.afterRun),
    parent: nameOf(run.parentRun),
    config_hash: run.configHash,
    status: run.status,
    error: run.error?.code ?? null,
    engine_id: run.engineId ?? null,
    data_hash: run.dataHash ?? null,
    num_steps: run.numSteps ?? null,
    best_step: run.bestStep ?? null,
    metrics: lasting(run.metrics),
    invalid: run.invalid ?? null,
    kept: run.kept ?? null,
    points: await hashPoints(database, run.id, isLasting),
    evals: (await readEvals(database, run.id)).map(canonicalEval),
    checkpoints,
  }
}

function canonicalEval(row: EvalRow): unknown {
  return {
    benchmark: row.benchmark,
    step: row.step ?? null,
    split: row.split,
    metrics: lasting(row.metrics),
    bounds: row.bounds ?? null,
    n_tasks: row.nTasks,
    n_infra_failed: row.nInfraFailed,
    scorer_hash: row.scorerHash,
    rewards: row.rewards ?? null,
    error: row.error?.code ?? null,
  }
}

async function canonicalCheckpoint(
  { step, kind, final, ref }: CheckpointRow,
  contentOf: CanonicalOptions['contentOf'],
): Promise<unknown> {
  return { step, kind, final, content: contentOf === undefined ? null : await contentOf(ref) }
}

// The words of an error may hold paths and process ids; its code is what happened.
function withoutMessages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMessages)
  if (typeof value !== 'object' || value === null) return value
  if ('code' in value && 'message' in value) return value.code
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutMessages(each)]))
}

// Metrics that measure the machine or the bill: they differ between two executions of the same research.
const PASSING = /^time\/|^(time|cost)_per_task$|^latency_p|^memory_gb$/

function isLasting(metric: string): boolean {
  return !PASSING.test(metric)
}

function lasting(metrics: Metrics): Metrics {
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => isLasting(name)))
}
