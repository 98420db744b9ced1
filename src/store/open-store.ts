// The record behind one interface, whatever database holds it.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Ack, ExperimentEvent, Ingest, Item, PointBatch, RunEvent } from '../contracts/index.ts'
import { type Clock, systemClock } from '../kernel/index.ts'
import { canonicalRecord } from './canonical-record.ts'
import { type Collected, collect, usage } from './collect.ts'
import { createExperiment, type NewExperiment } from './create-experiment.ts'
import type { Database } from './database.ts'
import { createDurableJobs, type DurableJobs, type JobOptions } from './durable-jobs.ts'
import { append, ingest } from './ingest.ts'
import { createLeases, type Leases } from './leases.ts'
import { type Migrated, migrate } from './migrate.ts'
import { createPointBuffer } from './point-buffer.ts'
import { readEvents } from './read-events.ts'
import { type CurvePoint, readPoints } from './read-points.ts'
import {
  type EvalRow,
  type ExperimentRow,
  findExperiment,
  listExperiments,
  type RunRow,
  readEvals,
  readExperiment,
  readRuns,
} from './read-record.ts'
import { createVerdicts, type Verdicts } from './verdicts.ts'

export interface OpenStore extends Ingest, AsyncDisposable {
  readonly label: string
  readonly migrated: Migrated
  createExperiment(created: NewExperiment): Promise<void>
  append(stream: string, expectedSeq: number, events: readonly (RunEvent | ExperimentEvent)[]): Promise<void>
  /** Buffered; `flush` waits until they are written. */
  points(batch: PointBatch): Promise<void>
  flush(): Promise<void>
  /** Number of the next item and of the next event of a stream. */
  cursor(stream: string): Promise<{ nextItem: number; nextEvent: number }>
  experiment(id: string): Promise<ExperimentRow | undefined>
  findExperiment(reference: string): Promise<ExperimentRow>
  experiments(query: { text?: string | undefined; limit: number }): Promise<ExperimentRow[]>
  runs(experimentId: string): Promise<RunRow[]>
  evals(runId: string): Promise<EvalRow[]>
  checkpoints(runId: string): Promise<{ step: number; kind: string; ref: string; final: boolean }[]>
  dropCheckpoint(runId: string, step: number, kind: string): Promise<void>
  events(query: { stream: string; afterSeq: number; limit: number }): Promise<(RunEvent | ExperimentEvent)[]>
  curve(query: { runId: string; key: string; maxPoints: number }): Promise<CurvePoint[]>
  metricKeys(runId: string): Promise<string[]>
  readonly verdicts: Verdicts
  readonly leases: Leases
  jobs(options: JobOptions): DurableJobs
  collect(options: { before: string }): Promise<Collected>
  usage(): Promise<{ bytes: number; rows: Record<string, number> }>
  backup(file: string): Promise<string>
  compact(): Promise<void>
  canonicalRecord(experimentId: string): Promise<unknown>
}

export interface OpenStoreOptions {
  readonly clock?: Clock
}

/** Opens the record at a file path or a postgresql:// address, migrating an older one after a backup. */
export async function openStore(address: string, { clock = systemClock }: OpenStoreOptions = {}): Promise<OpenStore> {
  const database = await openDatabaseAt(address)
  try {
    const stamp = new Date(clock.now()).toISOString().replace(/[:.]/g, '-')
    const migrated = await migrate(database, (version) => `${address}.v${version}.${stamp}.backup`)
    return storeOver(database, clock, migrated)
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
}

async function openDatabaseAt(address: string): Promise<Database> {
  if (/^postgres(ql)?:\/\//.test(address)) {
    const { postgresDatabase } = await import('./postgres/postgres-database.ts')
    return postgresDatabase(address)
  }
  if (address !== ':memory:') await mkdir(dirname(address), { recursive: true })
  const { sqliteDatabase } = await import('./sqlite/sqlite-database.ts')
  return sqliteDatabase(address)
}

function storeOver(database: Database, clock: Clock, migrated: Migrated): OpenStore {
  const buffer = createPointBuffer(database)
  return {
    label: database.label,
    migrated,
    createExperiment: (created) => createExperiment(database, created),
    append: (stream, expectedSeq, events) => append(database, stream, expectedSeq, events),
    push: (batch: { stream: string; fromSeq: number; items: readonly Item[] }): Promise<Ack> => ingest(database, batch),
    points: (batch) => buffer.add(batch),
    flush: () => buffer.flush(),
    async cursor(stream) {
      const row = await database.query.selectFrom('stream').selectAll().where('name', '=', stream).executeTakeFirst()
      return { nextItem: row?.next_item ?? 1, nextEvent: row?.next_event ?? 1 }
    },
    experiment: (id) => readExperiment(database, id),
    findExperiment: (reference) => findExperiment(database, reference),
    experiments: (query) => listExperiments(database, query),
    runs: (experimentId) => readRuns(database, experimentId),
    evals: (runId) => readEvals(database, runId),
    async checkpoints(runId) {
      const rows = await database.query
        .selectFrom('checkpoint')
        .select(['step', 'kind', 'ref', 'final'])
        .where('run_id', '=', runId)
        .where('dropped', '=', 0)
        .orderBy('step')
        .execute()
      return rows.map((row) => ({ ...row, final: row.final === 1 }))
    },
    async dropCheckpoint(runId, step, kind) {
      await database.query
        .updateTable('checkpoint')
        .set({ dropped: 1 })
        .where('run_id', '=', runId)
        .where('step', '=', step)
        .where('kind', '=', kind)
        .execute()
    },
    events: (query) => readEvents(database, query),
    curve: (query) => readPoints(database, query),
    async metricKeys(runId) {
      const rows = await database.query
        .selectFrom('point')
        .innerJoin('run', 'run.ix', 'point.run_ix')
        .innerJoin('metric_key', 'metric_key.ix', 'point.key_ix')
        .select('metric_key.name')
        .distinct()
        .where('run.id', '=', runId)
        .orderBy('metric_key.name')
        .execute()
      return rows.map((row) => row.name)
    },
    verdicts: createVerdicts(database, clock),
    leases: createLeases(database, clock),
    jobs: (options) => createDurableJobs(database, clock, options),
    collect: (options) => collect(database, options),
    usage: () => usage(database),
    backup: (file) => database.backup(file),
    compact: () => database.compact(),
    canonicalRecord: (experimentId) => canonicalRecord(database, experimentId),
    async [Symbol.asyncDispose]() {
      try {
        await buffer[Symbol.asyncDispose]()
      } finally {
        await database[Symbol.asyncDispose]()
      }
    },
  }
}
