// Long computations in one thread: now and then the rest of the process gets its turn, and the signal is heard.
import { setImmediate } from 'node:timers/promises'

/** To be called after so much work; waits a turn of the event loop when enough has come together. */
export type Breathe = (work: number) => Promise<void>

/** A breather for work in units of the caller's choice; `perBreath` of them should take a few milliseconds. */
export function breather(signal: AbortSignal, perBreath: number): Breathe {
  let since = 0
  return async (work) => {
    since += work
    if (since < perBreath) return
    since = 0
    await setImmediate()
    signal.throwIfAborted()
  }
}
