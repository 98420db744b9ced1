// Holding a claimed job: its lease is renewed by heartbeat, and every write asks first whether it still holds.

import * as z from 'zod'
import type { ClaimedJob, DurableJobState, JobOptions, Steps } from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { Database, Queryable } from '../database/database.ts'
import { guarded } from '../database/guarded.ts'
import { checkedName, parseJson, parseStored } from '../database/stored-values.ts'
import type { Now } from './leases.ts'

export interface HeldJob extends JobContext {
  readonly clock: Clock
  readonly owner: string
  readonly job: ClaimedJob
}

/**
 * Renews the lease until `stopped`, a fifth of it at a time: four heartbeats may be late before another worker takes over. Aborts
 * `lost` when another worker has the job, when it was cancelled, and when no renewal came through in time.
 */
export async function keepHolding(held: HeldJob, lost: AbortController, stopped: AbortSignal): Promise<void> {
  const { clock, options, job } = held
  let heldSince = clock.now()
  while (!stopped.aborted && !lost.signal.aborted) {
    try {
      await clock.sleep(options.leaseMs / 5, stopped)
    } catch {
      return // stopped
    }
    try {
      const isCancelled = await renew(held)
      heldSince = clock.now()
      if (isCancelled) lost.abort(new EvsysError('INTERRUPTED', `job ${job.id} was cancelled`))
    } catch (error) {
      const isOver = clock.now() - heldSince >= options.leaseMs
      if (isOver || isTakenOver(error)) lost.abort(error)
    }
  }
}

async function renew(held: HeldJob): Promise<boolean> {
  const until = Math.ceil((await held.now()) + held.options.leaseMs)
  const row = await ofHeld(held.database.query, held)
    .set({ lease_until_ms: until })
    .returning('cancel')
    .executeTakeFirst()
  if (row === undefined) throw takenOver(held)
  return row.cancel === 1
}

/** Ends the claim. False: another worker has the job. */
export async function releaseJob(
  held: HeldJob,
  set: {
    state: DurableJobState
    last_error?: string | undefined
    ready_at_ms?: number | undefined
    attempt?: number | undefined
    ended_at_ms?: number | undefined
  },
): Promise<boolean> {
  const ended = await ofHeld(held.database.query, held)
    .set({ ...set, owner: null, lease_until_ms: 0 })
    .executeTakeFirst()
  return ended.numUpdatedRows === 1n
}

/** An error unless the job is still held; inside a transaction no one can take it until the end. */
async function requireHolding(query: Queryable, held: HeldJob): Promise<void> {
  const touched = await ofHeld(query, held)
    .set((row) => ({ epoch: row.ref('epoch') }))
    .executeTakeFirst()
  if (touched.numUpdatedRows !== 1n) throw takenOver(held)
}

/** Whether the reason of an abort is that the job was cancelled. */
export function isCancelled(reason: unknown): boolean {
  return EvsysError.is(reason) && reason.code === 'INTERRUPTED'
}

function isTakenOver(error: unknown): boolean {
  return EvsysError.is(error) && error.code === 'STORE_CONFLICT'
}

function takenOver({ job }: HeldJob): EvsysError {
  return new EvsysError('STORE_CONFLICT', `job ${job.id} was taken over by another worker`)
}

function ofHeld(query: Queryable, { queue, job, owner }: HeldJob) {
  return query
    .updateTable('job')
    .where('queue', '=', queue)
    .where('id', '=', job.id)
    .where('owner', '=', owner)
    .where('epoch', '=', job.epoch)
    .where('state', '=', 'running')
}

// The memory of a job: the output of each named step, stored together with the check that the job is still held.
// Inside an object, so that a step without output has JSON too.
const Kept = z.object({ output: z.unknown().optional() })

export function jobSteps(held: HeldJob, signal: AbortSignal): Steps {
  const { database, queue, job } = held
  const memory = guarded(
    {
      async recall(key: string): Promise<string | undefined> {
        const row = await database.query
          .selectFrom('job_step')
          .select('output')
          .where('queue', '=', queue)
          .where('job_id', '=', job.id)
          .where('step_key', '=', key)
          .executeTakeFirst()
        return row?.output
      },
      async remember(key: string, output: string): Promise<void> {
        await database.transaction(async (query) => {
          await requireHolding(query, held)
          await query
            .insertInto('job_step')
            .values({ queue, job_id: job.id, step_key: key, output })
            .onConflict((conflict) => conflict.columns(['queue', 'job_id', 'step_key']).doNothing())
            .execute()
        })
      },
    },
    database,
  )
  return {
    async run<T>(key: string, schema: z.ZodType<T>, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
      signal.throwIfAborted()
      checkedName('step key', key)
      const read = (text: string) =>
        checkOutput(schema, parseStored(Kept, text, `step ${key} of job ${job.id}`).output, key)
      const known = await memory.recall(key)
      if (known !== undefined) return read(known)
      const text = JSON.stringify({ output: await work(signal) })
      read(text) // what could not be read again is not kept
      signal.throwIfAborted()
      await memory.remember(key, text)
      return read((await memory.recall(key)) ?? text) // of two at once the first counts, for both
    },
  }
}

function checkOutput<T>(schema: z.ZodType<T>, output: unknown, key: string): T {
  const checked = schema.safeParse(output)
  if (checked.success) return checked.data
  throw new EvsysError('DATA_INVALID', `the output of step ${key} does not fit: ${checked.error.issues[0]?.message}`, {
    cause: checked.error,
    fix: 'give the step another key when what it returns has changed.',
  })
}

// Claiming: the one moment when a job gets a worker. A claim raises the epoch, and with it shuts out the worker before.
export interface JobContext {
  readonly database: Database
  readonly now: Now
  readonly queue: string
  readonly options: JobOptions
}

/** A job that is ready or whose worker has gone silent, now held by `owner`; undefined when there is none. */
export async function claimJob(context: JobContext, owner: string): Promise<ClaimedJob | undefined> {
  const { database, now } = context
  for (;;) {
    const nowMs = await now()
    // Looked for without the write lock first: an idle worker that polls disturbs no one.
    if ((await nextJob(context, database.query, nowMs).executeTakeFirst()) === undefined) return undefined
    const claimed = await database.transaction((query) => claim(context, query, owner, nowMs))
    if (claimed !== 'ended') return claimed
  }
}

async function claim(
  context: JobContext,
  query: Queryable,
  owner: string,
  nowMs: number,
): Promise<ClaimedJob | 'ended' | undefined> {
  const { database, queue, options } = context
  const select = nextJob(context, query, nowMs)
  const found = await (database.kind === 'postgres' ? select.forUpdate().skipLocked() : select).executeTakeFirst()
  if (found === undefined) return undefined
  const job = query.updateTable('job').where('queue', '=', queue).where('id', '=', found.id)
  const ended = { owner: null, ended_at_ms: nowMs }
  if (found.cancel === 1) {
    await job.set({ ...ended, state: 'cancelled' }).execute()
    return 'ended'
  }
  // A job that kills every worker that touches it must end too.
  if (found.attempt >= options.attempts) {
    const last_error = `its worker died or was cut off, ${found.attempt} times in all`
    await job.set({ ...ended, state: 'dead', last_error }).execute()
    return 'ended'
  }
  const [epoch, attempt] = [found.epoch + 1, found.attempt + 1]
  const until = Math.ceil(nowMs + options.leaseMs)
  await job.set({ state: 'running', owner, epoch, attempt, lease_until_ms: until }).execute()
  return { id: found.id, epoch, attempt, payload: parseJson(found.payload, `payload of job ${found.id}`) }
}

// A time further ahead than any that is written by now: the clock was set back, and the time means nothing.
function nextJob({ queue, options }: JobContext, query: Queryable, nowMs: number) {
  return query
    .selectFrom('job')
    .select(['id', 'epoch', 'attempt', 'cancel', 'payload'])
    .where('queue', '=', queue)
    .where((job) =>
      job.or([
        job.and([
          job('state', '=', 'ready'),
          job.or([job('ready_at_ms', '<=', nowMs), job('ready_at_ms', '>', nowMs + options.maxBackoffMs + 1)]),
        ]),
        job.and([
          job('state', '=', 'running'),
          job.or([job('lease_until_ms', '<=', nowMs), job('lease_until_ms', '>', nowMs + options.leaseMs + 1)]),
        ]),
      ]),
    )
    .orderBy('ready_at_ms')
    .orderBy('id')
    .limit(1)
}
