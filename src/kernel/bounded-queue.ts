// First in, first out, with a bound. When it is full the oldest item makes room, and the loss is counted.

/** An item, and how many were dropped between it and the one taken before it. */
export type Taken<T> = { item: T; missed: number }

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
