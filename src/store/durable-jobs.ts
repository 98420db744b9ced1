// Durable jobs: work that survives its process. A worker claims a job under a lease, keeps it by heartbeat, and remembers the
// output of every named step; whoever takes over after a crash does not repeat them. A step runs at least once, its output
// counts exactly once: it is stored together with the check that the lease still holds.
import type * as z from 'zod'
import type { Steps } from '../contracts/index.ts'
import { type Clock, EvsysError, messageOf } from '../kernel/index.ts'
import type { Database } from './database.ts'

export type JobState = 'ready' | 'running' | 'done' | 'dead' | 'cancelled'

export interface JobOptions {
  readonly leaseMs: number
  /** Attempts before the job is dead. */
  readonly attempts: number
  readonly backoffMs: number
  readonly maxBackoffMs: number
}

export interface ClaimedJob {
  readonly id: string
  readonly payload: unknown
  readonly attempt: number
  readonly epoch: number
}

export interface DurableJobs {
  /** The id is the idempotency key: a job that is known is left as it is. */
  submit(id: string, payload: unknown): Promise<void>
  state(id: string): Promise<{ state: JobState; attempt: number; lastError?: string } | undefined>
  cancel(id: string): Promise<void>
  /** Claims a job that is ready, or whose worker has gone silent, and runs it. False: there is none. */
  work(
    owner: string,
    run: (job: ClaimedJob, steps: Steps, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<boolean>
}

export function createDurableJobs(database: Database, clock: Clock, options: JobOptions): DurableJobs {
  return {
    async submit(id, payload) {
      await database.query
        .insertInto('job')
        .values({
          id,
          state: 'ready',
          owner: null,
          epoch: 0,
          lease_until_ms: 0,
          attempt: 0,
          ready_at_ms: clock.now(),
          cancel: 0,
          last_error: null,
          payload: JSON.stringify(payload ?? null),
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
    },
    async state(id) {
      const row = await database.query.selectFrom('job').selectAll().where('id', '=', id).executeTakeFirst()
      if (row === undefined) return undefined
      const state = row.state as JobState // written by this file alone
      return { state, attempt: row.attempt, ...(row.last_error === null ? {} : { lastError: row.last_error }) }
    },
    async cancel(id) {
      await database.transaction(async (query) => {
        await query.updateTable('job').set({ cancel: 1 }).where('id', '=', id).execute()
        await query
          .updateTable('job')
          .set({ state: 'cancelled' })
          .where('id', '=', id)
          .where('state', '=', 'ready')
          .execute()
      })
    },
    async work(owner, run, signal) {
      const job = await claim(database, clock, owner, options.leaseMs)
      if (job === undefined) return false
      await runClaimed({ database, clock, options, owner, job, run, signal })
      return true
    },
  }
}

async function claim(
  database: Database,
  clock: Clock,
  owner: string,
  leaseMs: number,
): Promise<ClaimedJob | undefined> {
  return database.transaction(async (query) => {
    const now = clock.now()
    const select = query
      .selectFrom('job')
      .select('id')
      .where((where) =>
        where.or([
          where.and([where('state', '=', 'ready'), where('ready_at_ms', '<=', now)]),
          where.and([where('state', '=', 'running'), where('lease_until_ms', '<=', now)]),
        ]),
      )
      .orderBy('ready_at_ms')
      .orderBy('id')
      .limit(1)
    const next = await (database.kind === 'postgres' ? select.forUpdate().skipLocked() : select).executeTakeFirst()
    if (next === undefined) return undefined
    const row = await query
      .updateTable('job')
      .set((expr) => ({
        state: 'running',
        owner,
        epoch: expr('epoch', '+', 1),
        attempt: expr('attempt', '+', 1),
        lease_until_ms: now + leaseMs,
      }))
      .where('id', '=', next.id)
      .returning(['id', 'epoch', 'attempt', 'payload'])
      .executeTakeFirstOrThrow()
    return { id: row.id, epoch: row.epoch, attempt: row.attempt, payload: JSON.parse(row.payload) as unknown }
  })
}

interface Claimed {
  database: Database
  clock: Clock
  options: JobOptions
  owner: string
  job: ClaimedJob
  run: (job: ClaimedJob, steps: Steps, signal: AbortSignal) => Promise<void>
  signal: AbortSignal
}

async function runClaimed(claimed: Claimed): Promise<void> {
  const { job, run } = claimed
  const lost = new AbortController()
  const signal = AbortSignal.any([claimed.signal, lost.signal])
  const stopped = new AbortController()
  const beating = heartbeat(claimed, lost, stopped.signal)
  try {
    await run(job, steps(claimed, signal), signal)
    await finish(claimed, { state: 'done' })
  } catch (error) {
    await fail(claimed, error)
  } finally {
    stopped.abort()
    await beating
  }
}

// A fifth of the lease: four heartbeats may be late before somebody else takes over.
async function heartbeat(claimed: Claimed, lost: AbortController, stopped: AbortSignal): Promise<void> {
  const { database, clock, options, owner, job } = claimed
  while (!stopped.aborted) {
    try {
      await clock.sleep(options.leaseMs / 5, stopped)
    } catch {
      return
    }
    const row = await database.query
      .updateTable('job')
      .set({ lease_until_ms: clock.now() + options.leaseMs })
      .where('id', '=', job.id)
      .where('owner', '=', owner)
      .where('epoch', '=', job.epoch)
      .where('state', '=', 'running')
      .returning('cancel')
      .executeTakeFirst()
    if (row === undefined)
      lost.abort(new EvsysError('STORE_CONFLICT', `job ${job.id} was taken over by another worker`))
    else if (row.cancel === 1) lost.abort(new EvsysError('INTERRUPTED', `job ${job.id} was cancelled`))
  }
}

function steps({ database, job, owner }: Claimed, signal: AbortSignal): Steps {
  return {
    async run<T>(key: string, schema: z.ZodType<T>, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      const known = await database.query
        .selectFrom('job_step')
        .select('output')
        .where('job_id', '=', job.id)
        .where('step_key', '=', key)
        .executeTakeFirst()
      if (known !== undefined) return schema.parse(JSON.parse(known.output))
      const output = await work(signal)
      signal.throwIfAborted()
      await database.transaction(async (query) => {
        const holding = await query
          .updateTable('job')
          .set((expr) => ({ epoch: expr.ref('epoch') })) // takes the row's lock
          .where('id', '=', job.id)
          .where('owner', '=', owner)
          .where('epoch', '=', job.epoch)
          .where('state', '=', 'running')
          .executeTakeFirst()
        if (Number(holding.numUpdatedRows) !== 1) {
          throw new EvsysError('STORE_CONFLICT', `job ${job.id} was taken over by another worker`)
        }
        await query
          .insertInto('job_step')
          .values({ job_id: job.id, step_key: key, output: JSON.stringify(output) })
          .execute()
      })
      return output
    },
  }
}

async function finish(
  { database, job, owner }: Claimed,
  set: { state: JobState; last_error?: string; ready_at_ms?: number },
) {
  await database.query
    .updateTable('job')
    .set({ ...set, owner: null, lease_until_ms: 0 })
    .where('id', '=', job.id)
    .where('owner', '=', owner)
    .where('epoch', '=', job.epoch)
    .execute()
}

async function fail(claimed: Claimed, error: unknown): Promise<void> {
  const { database, clock, options, job } = claimed
  const row = await database.query.selectFrom('job').select('cancel').where('id', '=', job.id).executeTakeFirst()
  const last_error = messageOf(error)
  if (row?.cancel === 1) return finish(claimed, { state: 'cancelled', last_error })
  // Our own caller stopped us: the job is as ready as before.
  if (claimed.signal.aborted) return finish(claimed, { state: 'ready', last_error, ready_at_ms: clock.now() })
  if (job.attempt >= options.attempts) return finish(claimed, { state: 'dead', last_error })
  const delay = Math.min(options.maxBackoffMs, options.backoffMs * 2 ** (job.attempt - 1))
  return finish(claimed, { state: 'ready', last_error, ready_at_ms: clock.now() + delay })
}
