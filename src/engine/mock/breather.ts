// Long computations in one thread: now and then the rest of the process gets its turn, and the signal is heard.
import { setImmediate } from 'node:timers/promises'

/** A few milliseconds of work. */
const tokensPerBreath = 50_000

/** A function to call after so many tokens; it waits a turn of the event loop when enough have come together. */
export function breather(signal: AbortSignal): (tokens: number) => Promise<void> {
  let since = 0
  return async (tokens) => {
    since += tokens
    if (since < tokensPerBreath) return
    since = 0
    await setImmediate()
    signal.throwIfAborted()
  }
}
