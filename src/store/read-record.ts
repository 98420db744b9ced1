// Reads of the record, parsed on the way out: a row that does not fit its schema is a damaged record, not a surprise later.
import * as z from 'zod'
import { ErrorRecord, Metrics, Plan, RunConfig, RunStatus, Split, Verdict } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { FINAL_STEP } from './apply-event.ts'
import type { Database } from './database.ts'
import type { EvalTable, ExperimentTable, RunTable } from './tables.ts'

export interface ExperimentRow {
  id: string
  name: string
  createdAt: string
  finishedAt?: string
  status: RunStatus
  hypothesis?: string
  configHash: string
  plan: Plan
  parentId?: string
  tags: string[]
  verdict?: Verdict
  conclusion?: string
  evidence?: unknown
  words: { at: string; author: string; text: string }[]
  bestArm?: string
  costUsd?: number
  wallS?: number
  provenance: unknown
}

export interface RunRow {
  id: string
  experimentId: string
  arm: string
  name: string
  seed: number
  stage?: number
  afterRun?: string
  config: RunConfig
  configHash: string
  status: RunStatus
  attempt: number
  engineId?: string
  codeHash?: string
  dataHash?: string
  numSteps?: number
  bestStep?: number
  metrics: Metrics
  error?: ErrorRecord
  costUsd?: number
  tokens?: number
  wallS?: number
  startedAt?: string
  finishedAt?: string
  invalid?: string
}

export interface EvalRow {
  benchmark: string
  /** Absent: made after training. */
  step?: number
  split: Split
  metrics: Metrics
  bounds?: Record<string, [number, number]>
  nTasks: number
  nInfraFailed: number
  scorerHash: string
  rewards?: Record<string, (number | null)[]>
  predictions?: string
  error?: ErrorRecord
}

export async function readExperiment(database: Database, id: string): Promise<ExperimentRow | undefined> {
  const row = await database.query.selectFrom('experiment').selectAll().where('id', '=', id).executeTakeFirst()
  return row === undefined ? undefined : experimentOf(row)
}

/** Newest first; with `text`, those that hold its words, best first. */
export async function listExperiments(
  database: Database,
  { text, limit }: { text?: string | undefined; limit: number },
): Promise<ExperimentRow[]> {
  const ids = text === undefined ? undefined : await database.search(text, limit)
  if (ids?.length === 0) return []
  let query = database.query.selectFrom('experiment').selectAll()
  if (ids !== undefined) query = query.where('id', 'in', ids)
  const rows = await query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(limit).execute()
  return rows.map(experimentOf)
}

/** Ids, names or unambiguous beginnings of ids lead to an experiment. */
export async function findExperiment(database: Database, reference: string): Promise<ExperimentRow> {
  const rows = await database.query
    .selectFrom('experiment')
    .selectAll()
    .where((where) =>
      where.or([
        where('id', '=', reference),
        where('name', '=', reference),
        where('id', 'like', `${escaped(reference)}%`),
      ]),
    )
    .orderBy('created_at', 'desc')
    .limit(20)
    .execute()
  const exact = rows.find((row) => row.id === reference) ?? rows.find((row) => row.name === reference)
  if (exact !== undefined) return experimentOf(exact)
  const [only, another] = rows
  if (only !== undefined && another === undefined) return experimentOf(only)
  throw new EvsysError(
    'STORE_MISSING',
    `the record has ${only === undefined ? 'no' : 'more than one'} experiment "${reference}"`,
    {
      fix: '`evsys history` lists them; an id, a name, or the beginning of one id will do',
    },
  )
}

export async function readRuns(database: Database, experimentId: string): Promise<RunRow[]> {
  const rows = await database.query
    .selectFrom('run')
    .selectAll()
    .where('experiment_id', '=', experimentId)
    .orderBy('position')
    .execute()
  return rows.map(runOf)
}

export async function readEvals(database: Database, runId: string): Promise<EvalRow[]> {
  const rows = await database.query
    .selectFrom('eval')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('benchmark')
    .orderBy('step')
    .execute()
  return rows.map(evalOf)
}

function escaped(text: string): string {
  return text.replace(/[\\%_]/g, '')
}

const Words = z.array(z.object({ at: z.string(), author: z.string(), text: z.string() }))
const Rewards = z.record(z.string(), z.array(z.number().nullable()))
const BoundsOf = z.record(z.string(), z.tuple([z.number(), z.number()]))

function experimentOf(row: ExperimentTable): ExperimentRow {
  return {
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    status: RunStatus.parse(row.status),
    configHash: row.config_hash,
    plan: json(Plan, row.plan),
    tags: json(z.array(z.string()), row.tags),
    words: json(Words, row.words),
    provenance: JSON.parse(row.provenance) as unknown,
    ...present({
      finishedAt: row.finished_at,
      hypothesis: row.hypothesis,
      parentId: row.parent_id,
      verdict: row.verdict === null ? null : Verdict.parse(row.verdict),
      conclusion: row.conclusion,
      evidence: row.evidence === null ? null : (JSON.parse(row.evidence) as unknown),
      bestArm: row.best_arm,
      costUsd: row.cost_usd,
      wallS: row.wall_s,
    }),
  }
}

function runOf(row: Omit<RunTable, 'ix'>): RunRow {
  return {
    id: row.id,
    experimentId: row.experiment_id,
    arm: row.arm,
    name: row.name,
    seed: row.seed,
    config: json(RunConfig, row.config),
    configHash: row.config_hash,
    status: RunStatus.parse(row.status),
    attempt: row.attempt,
    metrics: json(Metrics, row.metrics),
    ...present({
      stage: row.stage,
      afterRun: row.after_run,
      engineId: row.engine_id,
      codeHash: row.code_hash,
      dataHash: row.data_hash,
      numSteps: row.num_steps,
      bestStep: row.best_step,
      error: row.error === null ? null : json(ErrorRecord, row.error),
      costUsd: row.cost_usd,
      tokens: row.tokens,
      wallS: row.wall_s,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      invalid: row.invalid,
    }),
  }
}

function evalOf(row: EvalTable): EvalRow {
  return {
    benchmark: row.benchmark,
    split: Split.parse(row.split),
    metrics: json(Metrics, row.metrics),
    nTasks: row.n_tasks,
    nInfraFailed: row.n_infra_failed,
    scorerHash: row.scorer_hash,
    ...present({
      step: row.step === FINAL_STEP ? null : row.step,
      bounds: row.bounds === null ? null : json(BoundsOf, row.bounds),
      rewards: row.rewards === null ? null : json(Rewards, row.rewards),
      predictions: row.predictions,
      error: row.error === null ? null : json(ErrorRecord, row.error),
    }),
  }
}

function json<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  return schema.parse(JSON.parse(text))
}

// Absent is undefined, and absent keys are left out.
function present<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> } // the nulls are gone
}
