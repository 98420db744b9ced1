// Time as a dependency: code that needs it is handed a clock, so that tests and replays decide what time it is.
import { onAbort } from './map-concurrent.ts'

export interface Clock {
  /** Milliseconds since 1970. It may jump in both directions: people and time servers set clocks. */
  now(): number
  /** Waits; an abort ends the wait at once with the signal's reason. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

// setTimeout takes 31 bits and turns anything longer into 1 ms.
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  async sleep(ms: number, signal: AbortSignal) {
    checkDuration(ms)
    let left = ms
    do {
      await wait(Math.min(left, longestTimerMs), signal)
      left -= longestTimerMs
    } while (left > 0)
  },
})

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stopListening()
      resolve()
    }, ms)
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

/** A clock that stands still until it is moved. */
export type ManualClock = Clock & {
  /** Moves on by `ms` and wakes, in order of their times, those whose wait is over. Resolves when they have run. */
  advance(ms: number): Promise<void>
  /** Sets the time without waking anything, as a clock that is corrected does. */
  set(nowMs: number): void
  readonly sleeping: number
  /** Resolves as soon as `count` waits are under way. */
  untilSleeping(count: number): Promise<void>
}

/** Makes a clock for tests and replays. A wait depends on `advance` alone: `set` changes what `now` says. */
export function manualClock(startMs = 0): ManualClock {
  let nowMs = startMs
  let passedMs = 0
  let order = 0
  const sleepers = new Set<{ dueMs: number; order: number; wake: () => void }>()
  const watchers = new Set<{ count: number; tell: () => void }>()

  const tellWatchers = () => {
    for (const watcher of watchers) {
      if (sleepers.size < watcher.count) continue
      watchers.delete(watcher)
      watcher.tell()
    }
  }

  const nextDue = (untilMs: number) =>
    [...sleepers]
      .filter((sleeper) => sleeper.dueMs <= untilMs)
      .sort((a, b) => a.dueMs - b.dueMs || a.order - b.order)
      .at(0)

  return {
    now: () => nowMs,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        checkDuration(ms)
        const sleeper = { dueMs: passedMs + ms, order: order++, wake: () => {} }
        const stopListening = onAbort(signal, () => {
          sleepers.delete(sleeper)
          reject(signal.reason)
        })
        if (signal.aborted) return
        sleeper.wake = () => {
          stopListening()
          sleepers.delete(sleeper)
          resolve()
        }
        sleepers.add(sleeper)
        tellWatchers()
      })
    },
    async advance(ms) {
      checkDuration(ms)
      const untilMs = passedMs + ms
      for (let sleeper = nextDue(untilMs); sleeper !== undefined; sleeper = nextDue(untilMs)) {
        nowMs += sleeper.dueMs - passedMs
        passedMs = sleeper.dueMs
        sleeper.wake()
        // What woke may sleep again within the same advance; a turn of the event loop lets it come that far.
        await new Promise((resolve) => setImmediate(resolve))
      }
      nowMs += untilMs - passedMs
      passedMs = untilMs
    },
    set(ms) {
      nowMs = ms
    },
    get sleeping() {
      return sleepers.size
    },
    untilSleeping(count) {
      return new Promise((resolve) => {
        watchers.add({ count, tell: resolve })
        tellWatchers()
      })
    },
  }
}

function checkDuration(ms: number): void {
  if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) throw new RangeError(`${ms} is not a time to wait, in ms`)
}
