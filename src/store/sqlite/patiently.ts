// Waiting for the write lock of other processes. SQLite itself would wait by blocking the thread, and with it heartbeats and
// workers' messages, so it waits only for a moment; the rest is waited for here.
import { setTimeout as delay } from 'node:timers/promises'
import { isBusy } from './sqlite-fault.ts'

/** How long SQLite may block the thread. */
export const BLOCKING_MS = 20
const PATIENCE_MS = 60_000
const LONGEST_PAUSE_MS = 50

/** Does `work`, again and again while another process holds the lock. */
export async function patiently<T>(work: () => T, patienceMs = PATIENCE_MS): Promise<T> {
  const givesUpAt = performance.now() + patienceMs
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= givesUpAt) throw error
    }
    await delay(pauseMs)
  }
}
