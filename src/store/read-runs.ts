// Runs and what they left: evaluations, checkpoints, artifacts.
import * as z from 'zod'
import {
  type Artifact,
  Bounds,
  Candidate,
  CandidateFailure,
  CheckpointKind,
  type CheckpointRow,
  ErrorRecord,
  type EvalRow,
  failureError,
  Job,
  MetricRanges,
  Metrics,
  MetricTables,
  type Plan,
  type RecordedPlan,
  RunConfig,
  RunKind,
  type RunNotes,
  type RunRow,
  RunStatus,
  Split,
  TaskScores,
  ThinClasses,
  type TrainingRunRow,
} from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { FINAL_STEP } from './apply-event.ts'
import type { Database, EvalTable, RunTable } from './database/database.ts'
import { checkedName, checkStored, hasPrefix, parseStored, present } from './database/stored-values.ts'
import { findExperiment } from './read-experiments.ts'

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

/** Configurations in one query. */
const CHUNK = 500

export async function readCompletedRuns(database: Database, configHashes: readonly string[]): Promise<RunRow[]> {
  const found: RunRow[] = []
  for (let start = 0; start < configHashes.length; start += CHUNK) {
    const rows = await database.query
      .selectFrom('run')
      .selectAll()
      .where('config_hash', 'in', configHashes.slice(start, start + CHUNK))
      .where('status', '=', 'completed')
      .orderBy('finished_at', 'desc')
      .execute()
    found.push(...rows.map(runRow))
  }
  return found
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
    only === undefined ? 'STORE_MISSING' : 'STORE_AMBIGUOUS',
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

// No task hides in the second form: what rewards say of a task is a list.
const TaskOutcomes = z.union([
  Rewards.transform((rewards) => ({
    rewards,
    by_task: undefined,
    ranges: undefined,
    thin: undefined,
    tables: undefined,
  })),
  z.strictObject({
    rewards: Rewards.optional(),
    by_task: TaskScores.optional(),
    ranges: MetricRanges.optional(),
    thin: ThinClasses.optional(),
    tables: MetricTables.optional(),
  }),
])

function evalRow(row: EvalTable): EvalRow {
  const of = (column: string) => `${column} of an evaluation of run ${row.run_id}`
  const outcomes = row.rewards === null ? undefined : parseStored(TaskOutcomes, row.rewards, of('rewards'))
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
      rewards: outcomes?.rewards ?? null,
      byTask: outcomes?.by_task ?? null,
      ranges: outcomes?.ranges ?? null,
      thin: outcomes?.thin ?? null,
      tables: outcomes?.tables ?? null,
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

export async function readRunsWithWeights(database: Database, address: string): Promise<string[]> {
  const rows = await database.query
    .selectFrom('checkpoint')
    .select('run_id')
    .distinct()
    .where((eb) => eb(eb.fn<string>('substr', ['ref', eb.lit(1), eb.lit(address.length)]), '=', address))
    .execute()
  return rows.map(({ run_id }) => run_id)
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

// A row of the table `run` as the rest of evsys sees it.
function runRow(row: Omit<RunTable, 'ix'>): RunRow {
  const of = (column: string) => `${column} of run ${row.id}`
  const failure = row.failure === null ? undefined : parseStored(CandidateFailure, row.failure, of('failure'))
  const columns = {
    id: row.id,
    experimentId: row.experiment_id,
    arm: row.arm,
    name: row.name,
    seed: row.seed,
    configHash: row.config_hash,
    status: checkStored(RunStatus, row.status, of('status')),
    attempt: row.attempt,
    metrics: parseStored(Metrics, row.metrics, of('metrics')),
    ...present({
      stage: row.stage,
      afterRun: row.after_run,
      engineId: row.engine_id,
      codeHash: row.code_hash,
      dataHash: row.data_hash,
      nRows: row.n_rows,
      numSteps: row.num_steps,
      bestStep: row.best_step,
      error: row.error === null ? failure && failureError(failure) : parseStored(ErrorRecord, row.error, of('error')),
      costUsd: row.cost_usd,
      tokens: row.tokens,
      wallS: row.wall_s,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      invalid: row.invalid,
      parentRun: row.parent_run,
      diff: row.diff,
      category: row.category,
      mode: row.mode,
      kept: row.kept === null ? null : row.kept === 1,
      description: row.description,
      claimed: row.claimed === null ? null : parseStored(Metrics, row.claimed, of('claimed score')),
    }),
  }
  return withPayload(columns, checkStored(RunKind, row.kind, of('kind')), failure, (schema) =>
    parseStored(schema, row.payload, of('payload')),
  )
}

type RunColumns = Omit<TrainingRunRow, 'kind' | 'config'>

// A payload is parsed when it is first read: a list of runs rarely needs it.
function withPayload(
  columns: RunColumns,
  kind: RunKind,
  failure: CandidateFailure | undefined,
  parse: <T>(schema: z.ZodType<T>) => T,
): RunRow {
  switch (kind) {
    case 'training':
      return withLazy({ ...columns, kind }, 'config', () => parse(RunConfig))
    case 'candidate':
      return withLazy({ ...columns, kind, ...present({ failure }) }, 'candidate', () => parse(Candidate))
    case 'job':
      return withLazy({ ...columns, kind }, 'job', () => parse(Job))
  }
}

function withLazy<O extends object, K extends string, T>(
  object: O,
  key: K,
  make: () => T,
): O & { readonly [P in K]: T } {
  let made: { value: T } | undefined
  const get = () => {
    made ??= { value: make() }
    return made.value
  }
  return Object.defineProperty(object, key, { get, enumerable: true }) as O & { readonly [P in K]: T } // just defined
}

/** A run that trains; any other is an error. */
export function requireTraining(run: RunRow): TrainingRunRow {
  if (run.kind === 'training') return run
  throw new EvsysError('STORE_CONFLICT', `${run.name} is no training but a ${run.kind}`, {
    fix: 'name a run of an experiment file; `evsys history` lists what there is.',
  })
}

/** The plan of an experiment whose runs all train; any other is an error. */
export function requireTrainingPlan(plan: RecordedPlan): Plan {
  const runs = plan.runs.map((run) => {
    if (run.kind !== 'candidate' && run.kind !== 'job') return run
    throw new EvsysError('STORE_CONFLICT', `${plan.experiment.name} is no experiment of trainings`, {
      fix: '`evsys research` continues a research session.',
    })
  })
  return { ...plan, runs }
}

/** The columns that notes change; what is left out stays as it is. */
export function noteColumns({ parentRun, kept, claimed, ...texts }: RunNotes): Partial<RunTable> {
  const columns = { ...texts, parent_run: parentRun, kept: kept === undefined ? undefined : Number(kept) }
  return present({ ...columns, claimed: claimed === undefined ? undefined : JSON.stringify(claimed) })
}
