// Listening to an AbortSignal without leaving the listener behind. Signals live as long as a run, waits come by the thousand.
import { setMaxListeners } from 'node:events'

/** Calls `stop` once when `signal` aborts, at once if it already has. The returned function ends the listening. */
export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) {
    stop()
    return () => {}
  }
  setMaxListeners(0, signal) // many waiters on one signal are the normal case here, not a leak to warn of
  signal.addEventListener('abort', stop, { once: true })
  return () => signal.removeEventListener('abort', stop)
}
