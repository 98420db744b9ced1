// Holding a claimed job: its lease is renewed by heartbeat, and every write asks first whether it still holds.
import type { ClaimedJob, DurableJobState } from '../../contracts/index.ts'
import { type Clock, EvsysError } from '../../kernel/index.ts'
import type { Queryable } from '../database.ts'
import type { JobContext } from './claim-job.ts'

export interface HeldJob extends JobContext {
  readonly clock: Clock
  readonly owner: string
  readonly job: ClaimedJob
}

/**
 * Renews the lease until `stopped`, a fifth of it at a time: four heartbeats may be late before somebody else takes over. Aborts
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
export async function letGo(
  held: HeldJob,
  set: {
    state: DurableJobState
    last_error?: string
    ready_at_ms?: number
    attempt?: number
    ended_at_ms?: number
  },
): Promise<boolean> {
  const ended = await ofHeld(held.database.query, held)
    .set({ ...set, owner: null, lease_until_ms: 0 })
    .executeTakeFirst()
  return ended.numUpdatedRows === 1n
}

/** An error unless the job is still held; inside a transaction nobody can take it until the end. */
export async function requireHolding(query: Queryable, held: HeldJob): Promise<void> {
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
