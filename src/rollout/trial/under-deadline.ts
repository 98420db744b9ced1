// Work that may take so long and no longer. Foreign code that does not listen to its signal is left behind after a moment of grace:
// whoever lent it something takes that back.
import { onAbort } from '../../kernel/index.ts'

/** How long aborted work has to come to an end. */
const GRACE_MS = 5_000
// setTimeout takes 31 bits and turns anything longer into 1 ms.
const LONGEST_MS = 2 ** 31 - 1

export interface DeadlineOptions {
  /** Absent: no limit of its own. */
  readonly timeoutMs?: number | undefined
  /** What the work is aborted with at the end of its time. */
  timeout(): Error
  readonly signal: AbortSignal
  readonly graceMs?: number
}

/** How work ended. `stopped`: it was aborted, by its deadline or by the caller, and why; `value` may be there all the same. */
export interface Settled<T> {
  readonly value?: T
  readonly error?: unknown
  readonly stopped?: unknown
  /** It did not end within the grace. */
  readonly abandoned?: true
}

/** Never rejects. */
export async function settleUnderDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: DeadlineOptions,
): Promise<Settled<T>> {
  const { timeoutMs, timeout, signal, graceMs = GRACE_MS } = options
  if (signal.aborted) return { stopped: signal.reason }
  const controller = new AbortController()
  const timer =
    timeoutMs === undefined || timeoutMs > LONGEST_MS
      ? undefined
      : setTimeout(() => controller.abort(timeout()), timeoutMs)
  const stopListening = onAbort(signal, () => controller.abort(signal.reason))
  let graceTimer: NodeJS.Timeout | undefined
  const abandoned = new Promise<{ abandoned: true }>((resolve) => {
    onAbort(controller.signal, () => {
      graceTimer = setTimeout(() => resolve({ abandoned: true }), graceMs)
    })
  })
  const working: Promise<Settled<T>> = (async () => ({ value: await work(controller.signal) }))().catch(
    (error: unknown) => ({ error }),
  )
  try {
    const ended = await Promise.race([working, abandoned])
    return controller.signal.aborted ? { ...ended, stopped: controller.signal.reason } : ended
  } finally {
    clearTimeout(timer)
    clearTimeout(graceTimer)
    stopListening()
  }
}

/** The value, or the failure: being stopped outranks what the work made of it. */
export async function underDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  options: DeadlineOptions,
): Promise<T> {
  const settled = await settleUnderDeadline(work, options)
  if (settled.stopped !== undefined) throw settled.stopped
  if (!('value' in settled)) throw settled.error
  return settled.value as T // `value` is there, be it undefined
}
