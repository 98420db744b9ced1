// Processes that do runs, a few at a time. A process is used again while it stayed clean and its plugins are as they were.
import type { ErrorRecord, Prediction, RunAssignment, Scored } from '../../contracts/index.ts'

export interface WorkerPoolOptions {
  /** Runs at a time. */
  readonly size: number
  readonly projectDir: string
  /** Bound of a worker's JavaScript heap. */
  readonly heapMb?: number
  /** Bound of all its writable memory: heap, buffers, threads. */
  readonly memoryMb?: number
  /** A worker that gives no sign of life for so long, not even its watching thread, is dead. */
  readonly silenceMs?: number
  /** Longest that a worker's event loop may stand still: generous, since a step may be one synchronous computation. */
  readonly blockedMs?: number
}

/** Answers of a run that want a score. The file holds the same predictions, as JSON lines. */
export interface ScoreQuestion {
  readonly benchmark: string
  /** Absent: after training. */
  readonly step?: number
  readonly predictions: readonly Prediction[]
  readonly predictionsFile: string
}

export interface RunOptions {
  /** The segment holds every item before `nextItem`. */
  onWritten(nextItem: number): void
  /** A rejection fails the run. */
  onScore(question: ScoreQuestion): Promise<Scored>
  /** Aborted: the run saves and leaves. */
  readonly stopping: AbortSignal
  /** Aborted: the worker is killed and the call rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** Those that the plugins of the run declare; no other reaches the worker. */
  readonly secrets?: Readonly<Record<string, string>>
  /** What the worker's plugins print. */
  onPrinted?(text: string): void
}

/** `lost`: the worker is gone before the run was done; the error is WORKER_DIED, WORKER_HUNG, WORKER_FLOODED or FILE_FAILED. */
export type RunOutcome =
  | { readonly outcome: 'finished' | 'interrupted' }
  | { readonly outcome: 'lost'; readonly error: ErrorRecord }

export interface WorkerPool extends AsyncDisposable {
  /** Does a run in a worker; waits its turn while all are busy. */
  run(assignment: RunAssignment, options: RunOptions): Promise<RunOutcome>
}

export type CreateWorkerPool = (options: WorkerPoolOptions) => WorkerPool
