// Trying again. It happens in one layer, the transport; nothing above it retries, or attempts would multiply.
import { type Clock, systemClock } from './clock.ts'
import { EvsysError } from './evsys-error.ts'
import { onAbort } from './map-concurrent.ts'

export type RetryOptions = {
  signal: AbortSignal
  /** How often to call `work` at most. Default 5. */
  attempts?: number | undefined
  /** The first wait; each later one is twice as long. Default 250. */
  baseMs?: number | undefined
  /** The longest wait of our own choosing. Default 30,000. */
  maxMs?: number | undefined
  /** The longest wait that a peer may ask for. An error that asks for more is not retried. Default 600,000. */
  maxRetryAfterMs?: number | undefined
  /** Where jitter comes from: keyed randomness makes a replay wait as long as the original. */
  random: { float(): number }
  /** Which errors may go away by themselves. Default: those with `retryable: true`. */
  retryable?: ((error: unknown) => boolean) | undefined
  clock?: Clock | undefined
  /** Told before each wait. */
  onRetry?: ((retry: { attempt: number; waitMs: number; error: unknown }) => void) | undefined
}

/**
 * Calls `work` until it succeeds, fails for good, or the attempts are used up; then the last error is thrown as it is.
 * An abort ends it at once with the signal's reason, even when `work` does not listen: its outcome is then ignored.
 */
export async function retry<T>(
  work: (attempt: number, signal: AbortSignal) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { signal, attempts = 5, retryable = isRetryable, clock = systemClock, onRetry } = options
  if (!(attempts >= 1)) throw new RangeError(`attempts must be at least 1, not ${attempts}`)
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted()
    try {
      return await unlessAborted(signal, () => work(attempt, signal))
    } catch (error) {
      signal.throwIfAborted()
      if (attempt >= attempts || !retryable(error)) throw error
      const waitMs = waitBefore(attempt, error, options)
      if (waitMs === undefined) throw error
      onRetry?.({ attempt, waitMs, error })
      await clock.sleep(waitMs, signal)
    }
  }
}

function isRetryable(error: unknown): boolean {
  return EvsysError.is(error) && error.retryable === true
}

// Exponential with "equal jitter": between half of the step and all of it, so that clients which failed together come
// back apart, yet none comes back at once.
function waitBefore(attempt: number, error: unknown, options: RetryOptions): number | undefined {
  const { baseMs = 250, maxMs = 30_000, maxRetryAfterMs = 600_000, random } = options
  const stepMs = Math.min(maxMs, baseMs * 2 ** (attempt - 1))
  const ownMs = Math.round(stepMs * (0.5 + 0.5 * random.float()))
  const askedMs = retryAfter(error)
  if (askedMs === undefined) return ownMs
  return askedMs > maxRetryAfterMs ? undefined : Math.max(ownMs, askedMs)
}

function retryAfter(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const value: unknown = Reflect.get(error, 'retryAfterMs')
  return typeof value === 'number' && value >= 0 ? value : undefined
}

/** The outcome of `work`, or the signal's reason if that comes first; the outcome is then ignored. */
export async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const working = work()
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason))
    void working.then(resolve, reject).then(stopListening)
  })
}
