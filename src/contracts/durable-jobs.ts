// Durable jobs: the work of processes that may die at any moment.
import type { Steps } from './record.ts'

export type DurableJobState = 'ready' | 'running' | 'done' | 'dead' | 'cancelled'

export interface JobOptions {
  /** Jobs of one queue are for one kind of worker. Default: `default`. */
  readonly queue?: string
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
 * Work that survives its process. A worker holds a job by heartbeat and remembers the output of every named step; whoever takes
 * over after a crash does not repeat them. A step runs at least once, its output counts exactly once.
 */
export interface DurableJobs {
  /** The id is the idempotency key: a job that is known is left as it is. */
  submit(id: string, payload: unknown): Promise<void>
  state(id: string): Promise<{ state: DurableJobState; attempt: number; lastError?: string } | undefined>
  /** A job that runs is told through its signal. */
  cancel(id: string): Promise<void>
  /** Claims a job that is ready, or whose worker has gone silent, and runs it. What `run` throws is kept with the job. */
  work(
    owner: string,
    run: (job: ClaimedJob, steps: Steps, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<WorkOutcome>
}
