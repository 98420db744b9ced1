// One signal out of several, and a time limit; let go of when the call ends, since the signals it listens to live for hours.
import { onAbort } from '../kernel/index.ts'

export type LinkedSignal = { readonly signal: AbortSignal; release(): void }

/** Aborts with the first of `signals`, or with `late()` after `timeoutMs`. */
export function linkSignals(
  signals: readonly (AbortSignal | undefined)[],
  limit?: { timeoutMs: number; late: () => unknown },
): LinkedSignal {
  const controller = new AbortController()
  const timer = limit === undefined ? undefined : setTimeout(() => controller.abort(limit.late()), limit.timeoutMs)
  const stops = signals.map((signal) =>
    signal === undefined ? () => {} : onAbort(signal, () => controller.abort(signal.reason)),
  )
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer)
      for (const stop of stops) stop()
    },
  }
}
