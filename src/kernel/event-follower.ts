// The two ways to follow an event bus: a handler that is called, and a reader that is asked. Each has its own queue and knows
// nothing of the bus.

/** `missed` counts the events lost directly before this one. */
export type Delivery<E> = { event: E; missed: number }

export type Follower<E> = {
  push(event: E): void
  /** Resolves when everything pushed so far was handled, or dropped. */
  settled(): Promise<void>
  /** No more events will come; those that wait are still delivered. */
  end(): void
  /** Forgets what waits. */
  drop(): void
}

// A handler that never waits must still let timers and sockets have their turn.
const burst = 256

/** Calls `deliver`, which does not throw, for one event after the other. */
export function handlerFollower<E>(
  queue: BoundedQueue<E>,
  deliver: (delivery: Delivery<E>) => Promise<void>,
): Follower<E> {
  let pushed = 0
  let draining = false
  let inHand = 0
  let waiting: { upTo: number; tell: () => void }[] = []

  const tellUpTo = (done: number) => {
    const ready = waiting.filter((each) => each.upTo <= done)
    if (ready.length > 0) waiting = waiting.filter((each) => each.upTo > done)
    for (const each of ready) each.tell()
  }
  const handled = () => pushed - queue.size - inHand

  const drain = async () => {
    await null // never inside emit
    for (let count = 1; ; count++) {
      const taken = queue.take()
      if (taken === undefined) break
      inHand = 1
      await deliver({ event: taken.item, missed: taken.missed })
      inHand = 0
      tellUpTo(handled())
      if (count % burst === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    draining = false
  }

  return {
    push(event) {
      queue.push(event)
      pushed += 1
      if (draining) return
      draining = true
      void drain()
    },
    settled() {
      return new Promise((resolve) => {
        waiting.push({ upTo: pushed, tell: resolve })
        tellUpTo(handled())
      })
    },
    end() {},
    drop() {
      queue.clear()
      tellUpTo(pushed) // a handler that hangs must not hold up those who gave it up
    },
  }
}

type ReaderFollower<E> = Follower<E> & {
  iterator: AsyncIterableIterator<Delivery<E>>
  /** Ends the loop with an error: `reason`. */
  abort(reason: unknown): void
}

/** Keeps events until the loop over `iterator` asks for them. `taken` sees each delivery, `left` the end of the loop. */
export function readerFollower<E>(
  queue: BoundedQueue<E>,
  { taken, left }: { taken: (delivery: Delivery<E>) => void; left: () => void },
): ReaderFollower<E> {
  type Step = IteratorResult<Delivery<E>, undefined>
  const done: Step = { done: true, value: undefined }
  const waiting: { resolve: (step: Step) => void; reject: (reason: unknown) => void }[] = []
  let state: 'open' | 'ended' | { reason: unknown } = 'open'

  const leave = (end: 'ended' | { reason: unknown }) => {
    if (state !== 'open') return
    state = end
    for (const each of waiting.splice(0)) end === 'ended' ? each.resolve(done) : each.reject(end.reason)
    left()
  }
  const step = (): Step | undefined => {
    const next = queue.take()
    if (next === undefined) return undefined
    const delivery = { event: next.item, missed: next.missed }
    taken(delivery)
    return { done: false, value: delivery }
  }

  const iterator: AsyncIterableIterator<Delivery<E>, undefined> = {
    async next() {
      if (typeof state === 'object') throw state.reason
      const ready = step()
      if (ready !== undefined) return ready
      if (state === 'ended') return done
      return new Promise<Step>((resolve, reject) => {
        waiting.push({ resolve, reject })
      })
    },
    async return() {
      queue.clear()
      leave('ended')
      return done
    },
    [Symbol.asyncIterator]() {
      return iterator
    },
  }

  return {
    iterator,
    push(event) {
      queue.push(event)
      const asker = waiting.shift()
      const next = asker === undefined ? undefined : step()
      if (next !== undefined) asker?.resolve(next)
    },
    settled: async () => {}, // a loop goes at its own pace; its owner knows when it has ended
    end: () => leave('ended'),
    drop: () => queue.clear(),
    abort(reason) {
      queue.clear()
      leave({ reason })
    },
  }
}

// First in, first out, with a bound. When it is full the oldest item makes room, and the loss is counted.
/** An item, and how many were dropped between it and the one taken before it. */
type Taken<T> = { item: T; missed: number }

export class BoundedQueue<T> {
  readonly #capacity: number
  #items: (T | undefined)[] = []
  #head = 0
  #missed = 0

  /** `capacity` may be Infinity: then nothing is ever dropped, and memory is the bound. */
  constructor(capacity: number) {
    if (!(capacity >= 1)) throw new RangeError(`capacity must be at least 1, not ${capacity}`)
    this.#capacity = capacity
  }

  get size(): number {
    return this.#items.length - this.#head
  }

  /** Adds an item; returns false when the oldest had to go for it. */
  push(item: T): boolean {
    const full = this.size >= this.#capacity
    if (full) {
      this.#shift()
      this.#missed += 1
    }
    this.#items.push(item)
    return !full
  }

  take(): Taken<T> | undefined {
    if (this.size === 0) return undefined
    const missed = this.#missed
    this.#missed = 0
    return { item: this.#shift(), missed }
  }

  clear(): void {
    this.#items = []
    this.#head = 0
    this.#missed = 0
  }

  #shift(): T {
    const item = this.#items[this.#head] as T // callers looked at size; T itself may include undefined
    this.#items[this.#head] = undefined
    this.#head += 1
    // Half of the array is a gap: close it. Each item is moved once on average.
    if (this.#head > 32 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
