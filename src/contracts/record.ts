// What is sent to the record, and the interfaces of durable steps. The whole of it is `Store`.
import * as z from 'zod'
import { ExperimentEvent, RunEvent } from './events.ts'
import { Count, Text } from './name.ts'

/** Content hash, 64 hexadecimal digits in lower case. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 is 64 hexadecimal digits')
export type Sha256 = z.infer<typeof Sha256>

/**
 * Metric points of one run, column-wise: `key[i]` had `value[i]` after `step[i]`. A later point of the same key and step
 * replaces an earlier one, so that steps done again after a crash count once.
 */
export const PointBatch = z
  .strictObject({
    type: z.literal('points'),
    run_id: Text,
    key: z.array(Text),
    step: z.array(Count),
    value: z.array(z.number()),
    at_ms: z.array(Count).describe('Milliseconds since 1970, UTC.'),
  })
  .refine(({ key, ...columns }) => [columns.step, columns.value, columns.at_ms].every((c) => c.length === key.length), {
    error: 'the columns key, step, value and at_ms have equal lengths',
  })
export type PointBatch = z.infer<typeof PointBatch>

/** What a worker sends to the record. */
export const Item = z.union([RunEvent, ExperimentEvent, PointBatch])
export type Item = z.infer<typeof Item>

/** Durable steps: the output of `work` is kept under `key`; after a crash it is not done again. */
export interface Steps {
  run<T>(key: string, schema: z.ZodType<T>, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** Everything before `nextSeq` is stored and may be forgotten by the sender. */
export interface Ack {
  readonly stream: string
  readonly nextSeq: number
}

// Who may act now, with fencing: an old holder that comes back late cannot write.
/** The right to act under a name, until another takes over, with a higher epoch. */
export interface Lease {
  readonly name: string
  readonly owner: string
  readonly epoch: number
}

/**
 * A lease that was not renewed in time goes to the next that asks. Its old holder learns of it at the next renewal or write
 * and stops.
 */
export interface Leases {
  /** The lease, or undefined while another holds it. */
  acquire(name: string, owner: string, ttlMs: number, note?: string): Promise<Lease | undefined>
  /** Takes a lease from a holder that is known to be gone, without waiting for its end; undefined: it moved on. */
  takeOver(held: Lease, owner: string, ttlMs: number, note?: string): Promise<Lease | undefined>
  /** False: it was lost. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /** Who holds it now. */
  holder(name: string): Promise<(Lease & { note: string; untilMs: number }) | undefined>
}

// Durable jobs: the work of processes that may die at any moment.
export type DurableJobState = 'ready' | 'running' | 'done' | 'dead' | 'cancelled'

export interface JobOptions {
  /** Jobs of one queue are for one kind of worker. Default: `default`. */
  readonly queue?: string | undefined
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

/** How a call of `work` ended. `idle`: there was no job. `lost`: another worker took it over. */
export type WorkOutcome = 'idle' | 'done' | 'failed' | 'dead' | 'cancelled' | 'released' | 'lost'

/**
 * Work that survives its process. A worker holds a job by heartbeat and remembers the output of every named step; a worker that takes
 * over after a crash does not repeat them. A step runs at least once, its output counts exactly once.
 */
export interface DurableJobs {
  /** The id is the idempotency key: a job that is known is left as it is. */
  submit(id: string, payload: unknown): Promise<void>
  state(id: string): Promise<{ state: DurableJobState; attempt: number; lastError?: string | undefined } | undefined>
  /** A job that runs is cancelled through its signal. */
  cancel(id: string): Promise<void>
  /** Claims a job that is ready, or whose worker has gone silent, and runs it. What `run` throws is kept with the job. */
  work(
    owner: string,
    run: (job: ClaimedJob, steps: Steps, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<WorkOutcome>
}
