/** Keys and values of the positions that one layer has seen. */
export class KvCache {
  #keys = new Float64Array()
  #values = new Float64Array()
  #length = 0

  /** Adds rows and returns all there are so far. */
  append(keys: Float64Array, values: Float64Array): { keys: Float64Array; values: Float64Array } {
    const end = this.#length + keys.length
    if (end > this.#keys.length) {
      this.#keys = grown(this.#keys, this.#length, 2 * end)
      this.#values = grown(this.#values, this.#length, 2 * end)
    }
    this.#keys.set(keys, this.#length)
    this.#values.set(values, this.#length)
    this.#length = end
    return { keys: this.#keys.subarray(0, end), values: this.#values.subarray(0, end) }
  }

  /** Forgets what came after a number of values per array. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length)
  }

  get length(): number {
    return this.#length
  }
}

function grown(old: Float64Array, length: number, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity)
  larger.set(old.subarray(0, length))
  return larger
}
