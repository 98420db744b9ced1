// Durable jobs on the record: submitted once, claimed under a lease, done by any worker that is alive.
import type { DurableJobState, DurableJobs, JobOptions, WorkOutcome } from '../../contracts/index.ts'
import { type Clock, messageOf } from '../../kernel/index.ts'
import type { Database } from '../database/database.ts'
import { checkedName } from '../database/stored-values.ts'
import { claimJob, type HeldJob, isCancelled, type JobContext, jobSteps, keepHolding, releaseJob } from './hold-job.ts'
import type { Now } from './leases.ts'

export function createDurableJobs(database: Database, clock: Clock, now: Now, options: JobOptions): DurableJobs {
  const queue = checkedName('queue name', options.queue ?? 'default')
  const context: JobContext = { database, now, queue, options }
  return {
    async submit(id, payload) {
      const row = { queue, id: checkedName('job id', id), payload: JSON.stringify(payload ?? null) }
      const start = { state: 'ready', epoch: 0, lease_until_ms: 0, attempt: 0, ready_at_ms: await now(), cancel: 0 }
      await database.query
        .insertInto('job')
        .values({ ...row, ...start })
        .onConflict((conflict) => conflict.columns(['queue', 'id']).doNothing())
        .execute()
    },
    async state(id) {
      const row = await database.query
        .selectFrom('job')
        .select(['state', 'attempt', 'last_error'])
        .where('queue', '=', queue)
        .where('id', '=', id)
        .executeTakeFirst()
      if (row === undefined) return undefined
      const state = row.state as DurableJobState // written by this room alone
      return { state, attempt: row.attempt, lastError: row.last_error ?? undefined }
    },
    async cancel(id) {
      const ended_at_ms = await now()
      await database.transaction(async (query) => {
        const job = query.updateTable('job').where('queue', '=', queue).where('id', '=', id)
        await job.set({ cancel: 1 }).where('state', '=', 'running').execute()
        await job.set({ cancel: 1, state: 'cancelled', ended_at_ms }).where('state', '=', 'ready').execute()
      })
    },
    async work(owner, run, signal) {
      signal.throwIfAborted()
      const job = await claimJob(context, checkedName('job owner', owner))
      if (job === undefined) return 'idle'
      return workOn({ ...context, clock, owner, job }, run, signal)
    },
  }
}

async function workOn(
  held: HeldJob,
  run: Parameters<DurableJobs['work']>[1],
  caller: AbortSignal,
): Promise<WorkOutcome> {
  const lost = new AbortController()
  const stopped = new AbortController()
  const signal = AbortSignal.any([caller, lost.signal])
  const beating = keepHolding(held, lost, stopped.signal)
  let failure: { readonly error: unknown } | undefined
  try {
    await run(held.job, jobSteps(held, signal), signal)
  } catch (error) {
    failure = { error }
  } finally {
    stopped.abort()
    await beating
  }
  return failure === undefined ? succeed(held) : fail(held, failure.error, lost.signal, caller)
}

async function succeed(held: HeldJob): Promise<WorkOutcome> {
  return (await releaseJob(held, { state: 'done', ended_at_ms: await held.now() })) ? 'done' : 'lost'
}

async function fail(held: HeldJob, error: unknown, lost: AbortSignal, caller: AbortSignal): Promise<WorkOutcome> {
  const { job, options } = held
  const nowMs = await held.now()
  const last_error = messageOf(error)
  const end = async (outcome: WorkOutcome, set: Parameters<typeof releaseJob>[1]) =>
    (await releaseJob(held, { last_error, ...set })) ? outcome : 'lost'
  if (isCancelled(lost.reason)) return end('cancelled', { state: 'cancelled', ended_at_ms: nowMs })
  if (lost.aborted) return 'lost'
  // Our own caller stopped us: the job is as ready as before.
  if (caller.aborted) return end('released', { state: 'ready', ready_at_ms: nowMs, attempt: job.attempt - 1 })
  if (job.attempt >= options.attempts) return end('dead', { state: 'dead', ended_at_ms: nowMs })
  const delayMs = Math.min(options.maxBackoffMs, options.backoffMs * 2 ** (job.attempt - 1))
  return end('failed', { state: 'ready', ready_at_ms: Math.ceil(nowMs + delayMs) })
}
