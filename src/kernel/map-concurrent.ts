// Parallel work with bounds: how much at a time, how much per second, until when. Every task that was started has ended before the
// caller continues: no promise leaks.
import { setMaxListeners } from 'node:events'

export type MapConcurrentOptions = {
  limit: number
  signal: AbortSignal
}

/**
 * Maps `items` through `work`, at most `limit` at a time; results keep the order of the items. The first failure aborts the
 * other tasks through their signal, and is thrown once all of them have ended. Items are pulled one at a time and only when
 * a task can start, so an endless source is read no further than it is used.
 */
export async function mapConcurrent<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  { limit, signal }: MapConcurrentOptions,
  work: (item: T, index: number, signal: AbortSignal) => Promise<R> | R,
): Promise<R[]> {
  if (!(limit >= 1)) throw new RangeError(`limit must be at least 1, not ${limit}`)
  signal.throwIfAborted()
  const siblings = new AbortController()
  setMaxListeners(0, siblings.signal)
  const stopListening = onAbort(signal, () => siblings.abort(signal.reason))
  const source = pullFrom(items, siblings.signal)
  const results: R[] = []
  let failure: { error: unknown } | undefined
  const fail = (error: unknown) => {
    // What fails after the caller's abort fails because of it.
    failure ??= { error: signal.aborted ? signal.reason : error }
    siblings.abort(error)
  }

  // A lane starts the next one before it works, so there are never more lanes than items being worked on.
  const lanes: Promise<void>[] = []
  const lane = async () => {
    for (;;) {
      const next = await source.next().catch(fail)
      if (next === undefined || siblings.signal.aborted) return
      if (lanes.length < limit) lanes.push(lane())
      try {
        results[next.index] = await work(next.item, next.index, siblings.signal)
      } catch (error) {
        fail(error)
      }
    }
  }

  lanes.push(lane())
  for (const each of lanes) await each // grows while it is walked
  stopListening()
  await source.close().catch(fail)
  if (failure !== undefined) throw failure.error
  signal.throwIfAborted()
  return results
}

type Source<T> = { next(): Promise<{ item: T; index: number } | undefined>; close(): Promise<void> }

// One pull at a time: lanes that ask meanwhile wait in line. After an abort there is nothing more to pull.
function pullFrom<T>(items: Iterable<T> | AsyncIterable<T>, signal: AbortSignal): Source<T> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  let index = 0
  let state: 'open' | 'pulling' | 'ended' = 'open'
  let turn: Promise<unknown> = Promise.resolve()

  const pull = async () => {
    if (state !== 'open' || signal.aborted) return undefined
    state = 'pulling'
    try {
      const step = await untilAborted(signal, async () => iterator.next())
      if (step === undefined) return undefined // the source still thinks, and no one waits for it any more
      state = step.done ? 'ended' : 'open'
      return step.done ? undefined : { item: step.value, index: index++ }
    } catch (error) {
      state = 'ended' // an iterator that threw is finished
      throw error
    }
  }

  return {
    next() {
      const mine = turn.then(pull)
      turn = mine.catch(() => {})
      return mine
    },
    async close() {
      if (state === 'ended') return
      const closing = Promise.resolve(iterator.return?.())
      // A source that did not answer its last pull may never end; it was asked to close, and that is all that can be done.
      if (state === 'pulling') closing.catch(() => {})
      else await closing
    },
  }
}

function untilAborted<R>(signal: AbortSignal, work: () => Promise<R>): Promise<R | undefined> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => resolve(undefined))
    work().then(resolve, reject).finally(stopListening)
  })
}

// Listening to an AbortSignal without leaking the listener. Signals live as long as a run, waits come by the thousand.
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

/** The outcome of `work`, or the signal's reason if that comes first; what `work` then comes to is ignored. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal.reason))
    work.then(resolve, reject).finally(stopListening)
  })
}

// How much of something may come at once and in the long run: a bucket that fills at a steady rate.
export interface RateBound {
  /** Takes an amount; false: it is more than there is, and nothing was taken. */
  take(amount: number): boolean
}

/** A full bucket of `burst` that gets `perSecond` back. */
export function createRateBound({
  burst,
  perSecond,
  now = () => performance.now(),
}: {
  burst: number
  perSecond: number
  /** Milliseconds on a clock that only goes forward. */
  now?: (() => number) | undefined
}): RateBound {
  let left = burst
  let lastMs = now()
  return {
    take(amount) {
      const nowMs = now()
      left = Math.min(burst, left + ((nowMs - lastMs) / 1000) * perSecond)
      lastMs = nowMs
      if (amount > left) return false
      left -= amount
      return true
    },
  }
}

// Slots for concurrent work. First come, first served, so no one waits for ever.
export interface Slots {
  /** Waits for a place; disposing of it gives it to the next in line. */
  take(signal: AbortSignal): Promise<Disposable>
  readonly taken: number
}

export function createSlots(limit: number): Slots {
  const waiting: (() => void)[] = []
  let taken = 0
  const place = (): Disposable => {
    let isHeld = true
    return {
      [Symbol.dispose]() {
        if (!isHeld) return
        isHeld = false
        const next = waiting.shift()
        if (next === undefined) taken -= 1
        else next() // the place changes hands: it is never free in between
      },
    }
  }
  return {
    get taken() {
      return taken
    },
    async take(signal) {
      signal.throwIfAborted()
      if (taken < limit) {
        taken += 1
        return place()
      }
      await new Promise<void>((resolve, reject) => {
        const mine = () => {
          stopListening()
          resolve()
        }
        waiting.push(mine)
        const stopListening = onAbort(signal, () => {
          const at = waiting.indexOf(mine)
          if (at >= 0) waiting.splice(at, 1)
          reject(signal.reason)
        })
      })
      return place()
    },
  }
}
