// Opens the record: a file, or a PostgreSQL server.
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { sql } from 'kysely'
import type { Collected, Migrated, Store, StoreUsage } from '../contracts/index.ts'
import { type Clock, EvsysError, fileWork, systemClock } from '../kernel/index.ts'
import { canonicalRecord } from './canonical-record.ts'
import { type Database, TABLE_NAMES } from './database/database.ts'
import { guarded } from './database/guarded.ts'
import { append, ingest } from './ingest.ts'
import { createDurableJobs } from './jobs/durable-jobs.ts'
import { createLeases, type Now } from './jobs/leases.ts'
import { migrate } from './migrations/migrate.ts'
import { readCurve, readMetricKeys } from './read-curve.ts'
import { findExperiment, listExperiments, readExperiment } from './read-experiments.ts'
import {
  findRun,
  keepArtifact,
  readArtifacts,
  readCheckpoints,
  readCompletedRuns,
  readEvals,
  readRun,
  readRuns,
  readRunsWithWeights,
} from './read-runs.ts'
import { readCursor, readEvents } from './streams.ts'
import { createExperiment, createVerdicts } from './write-experiment.ts'
import { createPointNumbers } from './write-points.ts'

export interface OpenStoreOptions {
  /** Default: the time of this machine, and for leases in PostgreSQL that of the server. */
  readonly clock?: Clock | undefined
  /** Aborted: what another process keeps locked is waited for a moment more, so that an end can be recorded. */
  readonly signal?: AbortSignal | undefined
}

/** Opens the record at a file path or a postgresql:// address, migrating an older one after a copy was made. */
export async function openStore(address: string, { clock, signal }: OpenStoreOptions = {}): Promise<Store> {
  const database = await openDatabaseAt(address, signal)
  try {
    const migrated = await migrate(database, { nowMs: (clock ?? systemClock).now() })
    return storeOver(database, clock, migrated)
  } catch (cause) {
    await database[Symbol.asyncDispose]()
    throw EvsysError.is(cause) ? cause : database.explain(cause)
  }
}

async function openDatabaseAt(address: string, signal: AbortSignal | undefined): Promise<Database> {
  if (/^postgres(ql)?:\/\//.test(address)) {
    const { postgresDatabase } = await import('./postgres/postgres-database.ts')
    return postgresDatabase(address)
  }
  if (address !== ':memory:') {
    await fileWork('create', dirname(address), () => mkdir(dirname(address), { recursive: true }))
  }
  const { sqliteDatabase } = await import('./sqlite/sqlite-database.ts')
  return sqliteDatabase(address, signal)
}

function storeOver(database: Database, ownClock: Clock | undefined, migrated: Migrated): Store {
  const clock = ownClock ?? systemClock
  const now: Now = ownClock === undefined && database.serverTimeMs ? database.serverTimeMs : async () => clock.now()
  const numbers = createPointNumbers(database)
  const store: Store = {
    label: database.label,
    migrated,
    createExperiment: (created) => createExperiment(database, created),
    push: (batch, under) => ingest(database, numbers, batch, under),
    append: (stream, expectedSeq, events, under) => append(database, numbers, { stream, expectedSeq, events }, under),
    cursor: (stream) => readCursor(database.query, stream),
    experiment: (id) => readExperiment(database, id),
    findExperiment: (reference) => findExperiment(database, reference),
    experiments: (query) => listExperiments(database, query),
    runs: (experimentId) => readRuns(database, experimentId),
    run: (runId) => readRun(database, runId),
    completedRuns: (configHashes) => readCompletedRuns(database, configHashes),
    findRun: (reference) => findRun(database, reference),
    evals: (runId) => readEvals(database, runId),
    checkpoints: (runId) => readCheckpoints(database, runId),
    runsWithWeights: (address) => readRunsWithWeights(database, address),
    artifacts: (runId) => readArtifacts(database, runId),
    keepArtifact: (runId, artifact) => keepArtifact(database, runId, artifact),
    events: (query) => readEvents(database, query),
    curve: (query) => readCurve(database, query),
    metricKeys: (runId) => readMetricKeys(database, runId),
    verdicts: guarded(createVerdicts(database, clock), database),
    leases: guarded(createLeases(database, now), database),
    jobs: (options) => guarded(createDurableJobs(database, clock, now, options), database),
    collect: (options) => collect(database, options),
    usage: () => usage(database),
    async backup(file) {
      await database.copyTo(file)
      return file
    },
    compact: () => database.compact(),
    canonicalRecord: (experimentId, options) => canonicalRecord(database, experimentId, options),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
  return guarded(store, database)
}

// Garbage: what the record no longer needs. Nothing that a conclusion rests on is ever collected.
/** Drops log lines of experiments and jobs that ended before `before`, and the names of checkpoints that are gone. */
async function collect(database: Database, options: { before: string }): Promise<Collected> {
  const beforeMs = Date.parse(options.before)
  if (Number.isNaN(beforeMs)) throw new EvsysError('DATA_INVALID', `"${options.before}" is no time`)
  const before = new Date(beforeMs).toISOString()
  return database.transaction(async (query) => {
    const logs = await sql`
      delete from event where type = 'log' and stream in (
        select 'run:' || run.id from run join experiment on experiment.id = run.experiment_id
        where experiment.finished_at < ${before})`.execute(query)
    const checkpoints = await query.deleteFrom('checkpoint').where('dropped', '=', 1).executeTakeFirst()
    const jobs = await query
      .deleteFrom('job')
      .where('state', 'in', ['done', 'cancelled'])
      .where('ended_at_ms', '<', beforeMs)
      .executeTakeFirst()
    return {
      events: Number(logs.numAffectedRows ?? 0),
      checkpoints: Number(checkpoints.numDeletedRows),
      jobs: Number(jobs.numDeletedRows),
    }
  })
}

/** Rows per table and bytes in all, for `evsys du`. */
async function usage(database: Database): Promise<StoreUsage> {
  const rows: Record<string, number> = {}
  for (const table of TABLE_NAMES) {
    const count = await database.query
      .selectFrom(table)
      .select((expr) => expr.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    rows[table] = Number(count.n)
  }
  return { bytes: await database.sizeBytes(), rows }
}
