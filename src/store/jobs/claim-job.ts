// Claiming: the one moment when a job gets a worker. Whoever claims raises the epoch, and with it shuts out the worker before.
import type { ClaimedJob, JobOptions } from '../../contracts/index.ts'
import type { Database, Queryable } from '../database.ts'
import type { Now } from '../leases.ts'
import { parseJson } from '../parse-stored.ts'

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
    // Looked for without the write lock first: an idle worker that polls disturbs nobody.
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
