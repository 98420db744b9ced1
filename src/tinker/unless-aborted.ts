// Stopping to wait for something that cannot be stopped.
import { onAbort } from '../kernel/index.ts'

/** The outcome of `work`, or the signal's reason if that comes first; `work` then goes on unheard. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(stopListening)
  })
}
