// Runs and what they left: evaluations, checkpoints, artifacts.

import * as z from 'zod'
import {
  type Artifact,
  Bounds,
  CheckpointKind,
  type CheckpointRow,
  ErrorRecord,
  type EvalRow,
  Metrics,
  type RunRow,
  Split,
} from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { FINAL_STEP } from './apply-event.ts'
import { checkedName } from './checked-name.ts'
import type { Database } from './database.ts'
import { hasPrefix } from './has-prefix.ts'
import { checkStored, parseStored } from './parse-stored.ts'
import { present } from './present.ts'
import { findExperiment } from './read-experiments.ts'
import { runRow } from './run-row.ts'
import type { EvalTable } from './tables.ts'

export async function readRuns(database: Database, experimentId: string): Promise<RunRow[]> {
  const rows = await database.query
    .selectFrom('run')
    .selectAll()
    .where('experiment_id', '=', experimentId)
    .orderBy('position')
    .execute()
  return rows.map(runRow)
}

export async function readRun(database: Database, runId: string): Promise<RunRow | undefined> {
  const row = await database.query.selectFrom('run').selectAll().where('id', '=', runId).executeTakeFirst()
  return row === undefined ? undefined : runRow(row)
}

/** An id, `experiment/run`, a name that only one run has, or an unambiguous beginning of an id leads to a run. */
export async function findRun(database: Database, reference: string): Promise<RunRow> {
  const exact = (await readRun(database, reference)) ?? (await runOfExperiment(database, reference))
  if (exact !== undefined) return exact
  const all = database.query.selectFrom('run').selectAll().limit(2)
  const named = await all.where('name', '=', reference).execute()
  const [only, another] =
    named.length > 0 || reference === '' ? named : await all.where(hasPrefix('id', reference)).execute()
  if (only !== undefined && another === undefined) return runRow(only)
  throw new EvsysError(
    'STORE_MISSING',
    `the record has ${only === undefined ? 'no' : 'more than one'} run "${reference}"`,
    { fix: '`evsys show EXPERIMENT` lists its runs; an id, EXPERIMENT/RUN, or the beginning of one id will do.' },
  )
}

async function runOfExperiment(database: Database, reference: string): Promise<RunRow | undefined> {
  const slash = reference.indexOf('/')
  if (slash < 0) return undefined
  const experiment = await findExperiment(database, reference.slice(0, slash))
  const runs = await readRuns(database, experiment.id)
  return runs.find((run) => run.name === reference.slice(slash + 1))
}

export async function readEvals(database: Database, runId: string): Promise<EvalRow[]> {
  const rows = await database.query
    .selectFrom('eval')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('benchmark')
    .orderBy('step')
    .execute()
  return rows.map(evalRow)
}

const Rewards = z.record(z.string(), z.array(z.number().nullable()))

function evalRow(row: EvalTable): EvalRow {
  const of = (column: string) => `${column} of an evaluation of run ${row.run_id}`
  return {
    benchmark: row.benchmark,
    split: checkStored(Split, row.split, of('split')),
    metrics: parseStored(Metrics, row.metrics, of('metrics')),
    nTasks: row.n_tasks,
    nInfraFailed: row.n_infra_failed,
    scorerHash: row.scorer_hash,
    ...present({
      step: row.step === FINAL_STEP ? null : row.step,
      bounds: row.bounds === null ? null : parseStored(Bounds, row.bounds, of('bounds')),
      rewards: row.rewards === null ? null : parseStored(Rewards, row.rewards, of('rewards')),
      predictions: row.predictions,
      error: row.error === null ? null : parseStored(ErrorRecord, row.error, of('error')),
    }),
  }
}

export async function readCheckpoints(database: Database, runId: string): Promise<CheckpointRow[]> {
  const rows = await database.query
    .selectFrom('checkpoint')
    .select(['step', 'kind', 'ref', 'final'])
    .where('run_id', '=', runId)
    .where('dropped', '=', 0)
    .orderBy('step')
    .orderBy('kind')
    .execute()
  return rows.map(({ step, kind, ref, final }) => ({
    step,
    kind: checkStored(CheckpointKind, kind, `kind of a checkpoint of run ${runId}`),
    ref,
    final: final === 1,
  }))
}

export async function readArtifacts(database: Database, runId: string): Promise<Artifact[]> {
  return database.query
    .selectFrom('artifact')
    .select(['name', 'kind', 'ref'])
    .where('run_id', '=', runId)
    .orderBy('name')
    .execute()
}

export async function keepArtifact(database: Database, runId: string, { name, kind, ref }: Artifact): Promise<void> {
  if ((await readRun(database, runId)) === undefined) {
    throw new EvsysError('STORE_MISSING', `the record has no run ${runId}`)
  }
  await database.query
    .insertInto('artifact')
    .values({ run_id: runId, name: checkedName('artifact name', name), kind, ref })
    .onConflict((conflict) => conflict.columns(['run_id', 'name']).doUpdateSet({ kind, ref }))
    .execute()
}
