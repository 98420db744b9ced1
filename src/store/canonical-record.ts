// What must be equal between an experiment that was interrupted and resumed and one that was not: everything but times,
// attempts, costs and ids. Two records are the same research exactly when their canonical forms are equal.
import { hashOf } from '../kernel/index.ts'
import type { Database } from './database.ts'
import { type EvalRow, readEvals, readExperiment, readRuns } from './read-record.ts'

export async function canonicalRecord(database: Database, experimentId: string): Promise<unknown> {
  const experiment = await readExperiment(database, experimentId)
  if (experiment === undefined) return undefined
  const runs = await readRuns(database, experimentId)
  const nameOf = new Map(runs.map((run) => [run.id, run.name]))
  return {
    name: experiment.name,
    status: experiment.status,
    hypothesis: experiment.hypothesis,
    config_hash: experiment.configHash,
    verdict: experiment.verdict,
    conclusion: experiment.conclusion,
    best_arm: experiment.bestArm,
    runs: await Promise.all(
      runs.map(async (run) => ({
        name: run.name,
        arm: run.arm,
        seed: run.seed,
        after: run.afterRun === undefined ? undefined : nameOf.get(run.afterRun),
        config_hash: run.configHash,
        status: run.status,
        error: run.error?.code,
        data_hash: run.dataHash,
        num_steps: run.numSteps,
        best_step: run.bestStep,
        metrics: run.metrics,
        points_hash: await pointsHash(database, run.id),
        evals: (await readEvals(database, run.id)).map(canonicalEval),
        checkpoints: await checkpoints(database, run.id),
      })),
    ),
  }
}

function canonicalEval({ predictions: _blob, ...scored }: EvalRow) {
  return scored
}

async function pointsHash(database: Database, runId: string): Promise<string> {
  const rows = await database.query
    .selectFrom('point')
    .innerJoin('run', 'run.ix', 'point.run_ix')
    .innerJoin('metric_key', 'metric_key.ix', 'point.key_ix')
    .select(['metric_key.name', 'point.step', 'point.value'])
    .where('run.id', '=', runId)
    .where('metric_key.name', 'not like', 'time/%') // durations are times too
    .orderBy('metric_key.name')
    .orderBy('point.step')
    .execute()
  return hashOf(rows.map((row) => [row.name, row.step, row.value]))
}

async function checkpoints(database: Database, runId: string) {
  const rows = await database.query
    .selectFrom('checkpoint')
    .select(['step', 'kind', 'final'])
    .where('run_id', '=', runId)
    .where('dropped', '=', 0)
    .orderBy('step')
    .orderBy('kind')
    .execute()
  return rows.map(({ step, kind, final }) => ({ step, kind, final: final === 1 }))
}
