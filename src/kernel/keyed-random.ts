// Randomness with an address instead of a history. A draw belongs to a path (seed, purpose, step, task, ...), so it is the
// same whatever else was drawn, in whatever order, in whatever process.
import { createHash, randomFillSync } from 'node:crypto'
import type { Random, SeedPath } from '../contracts/index.ts'
import { canonicalJson } from './hash.ts'

export type KeyedRandom = Random & {
  /** 32 uniform bits. */
  uint32(): number
  /** One of the items, each equally likely. */
  pick<T>(items: readonly T[]): T
  /** The generator at a longer path: `keyedRandom(7, 'a').derive('b')` is `keyedRandom(7, 'a', 'b')`. Draws nothing. */
  derive(...path: SeedPath): KeyedRandom
}

/**
 * The generator of a seed and a path. Parts are told apart by place and type: `('ab')`, `('a', 'b')`, `(1)` and `('1')` are four
 * paths.
 */
export function keyedRandom(seed: number, ...path: SeedPath): KeyedRandom {
  return new Philox(seed, path)
}

class Philox implements KeyedRandom {
  readonly #seed: number
  readonly #path: SeedPath
  readonly #key = new Int32Array(2)
  readonly #counter = new Int32Array(4)
  readonly #block = new Int32Array(4)
  #used = 4
  #spare = Number.NaN

  constructor(seed: number, path: SeedPath) {
    this.#seed = seed
    this.#path = [...path]
    // Canonical JSON is unambiguous and refuses NaN. 128 bits of its digest pick the stream: two for the key, two for the
    // upper half of the counter; the lower half counts blocks.
    const digest = createHash('sha256')
      .update(canonicalJson([seed, ...path]))
      .digest()
    this.#key[0] = digest.readInt32LE(0)
    this.#key[1] = digest.readInt32LE(4)
    this.#counter[2] = digest.readInt32LE(8)
    this.#counter[3] = digest.readInt32LE(12)
  }

  uint32(): number {
    if (this.#used === 4) this.#refill()
    return (this.#block[this.#used++] ?? 0) >>> 0
  }

  float(): number {
    const high = this.uint32() >>> 5
    const low = this.uint32() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  int(n: number): number {
    if (!(Number.isSafeInteger(n) && n >= 1))
      throw new RangeError(`int(n) needs a whole number from 1 to 2^53 - 1, not ${n}`)
    // What lies above the largest multiple of n is drawn again; taking the remainder of it would favour small numbers.
    if (n <= 2 ** 32) {
      const limit = 2 ** 32 - (2 ** 32 % n)
      for (;;) {
        const draw = this.uint32()
        if (draw < limit) return draw % n
      }
    }
    const limit = 2 ** 53 - (2 ** 53 % n)
    for (;;) {
      const draw = (this.uint32() >>> 11) * 2 ** 32 + this.uint32()
      if (draw < limit) return draw % n
    }
  }

  // Marsaglia's polar method. Not Box-Muller: Math.cos differs in its last bit between versions of Node.
  normal(): number {
    if (!Number.isNaN(this.#spare)) {
      const spare = this.#spare
      this.#spare = Number.NaN
      return spare
    }
    for (;;) {
      const x = 2 * this.float() - 1
      const y = 2 * this.float() - 1
      const square = x * x + y * y
      if (square >= 1 || square === 0) continue
      const scale = Math.sqrt((-2 * Math.log(square)) / square)
      this.#spare = y * scale
      return x * scale
    }
  }

  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items]
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(i + 1)
      const kept = copy[i] as T // both indices lie inside the array; T may include undefined
      copy[i] = copy[j] as T
      copy[j] = kept
    }
    return copy
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('pick needs at least one item')
    return items[this.int(items.length)] as T // the index lies inside the array
  }

  derive(...path: SeedPath): KeyedRandom {
    return new Philox(this.#seed, [...this.#path, ...path])
  }

  #refill(): void {
    philox4x32(this.#counter, this.#key, this.#block)
    this.#used = 0
    this.#counter[0] = ((this.#counter[0] ?? 0) + 1) | 0
    if (this.#counter[0] === 0) this.#counter[1] = ((this.#counter[1] ?? 0) + 1) | 0
  }
}

// Philox4x32-10, a counter-based generator: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Its output
// is a function of key and counter alone, so any draw can be made without making those before it.
const multiplier0 = 0xd2511f53
const multiplier1 = 0xcd9e8d57
// Weyl constants: the golden ratio and the square root of 3 minus 1.
const bump0 = 0x9e3779b9
const bump1 = 0xbb67ae85

/** Four 32-bit words from a counter of four and a key of two. All words are signed; `out` may be `counter`. */
export function philox4x32(counter: Int32Array, key: Int32Array, out: Int32Array): void {
  let c0 = counter[0] ?? 0
  let c1 = counter[1] ?? 0
  let c2 = counter[2] ?? 0
  let c3 = counter[3] ?? 0
  let k0 = key[0] ?? 0
  let k1 = key[1] ?? 0
  for (let round = 0; round < 10; round++) {
    const high0 = mulHigh(multiplier0, c0)
    const high1 = mulHigh(multiplier1, c2)
    const low0 = Math.imul(multiplier0, c0)
    const low1 = Math.imul(multiplier1, c2)
    c0 = high1 ^ c1 ^ k0
    c1 = low1
    c2 = high0 ^ c3 ^ k1
    c3 = low0
    k0 = (k0 + bump0) | 0
    k1 = (k1 + bump1) | 0
  }
  out[0] = c0
  out[1] = c1
  out[2] = c2
  out[3] = c3
}

// The upper half of a 64-bit product, by halves of 16 bits: every partial sum stays below 2^32.
function mulHigh(a: number, b: number): number {
  const aHigh = a >>> 16
  const aLow = a & 0xffff
  const bHigh = b >>> 16
  const bLow = b & 0xffff
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16)
  const cross = aLow * bHigh + (middle & 0xffff)
  return (aHigh * bHigh + (middle >>> 16) + (cross >>> 16)) | 0
}

// Randomness that no one can repeat, for what must differ between processes: ids, and the jitter of real requests.
const pool = new Uint32Array(256)
let used = pool.length

/** Random bits of the operating system. Nothing that a run's result depends on may use them. */
export const systemRandom = Object.freeze({
  uint32(): number {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const value = pool[used] ?? 0
    pool[used++] = 0 // what was given out is not kept
    return value
  },
  float(): number {
    return ((systemRandom.uint32() >>> 5) * 2 ** 26 + (systemRandom.uint32() >>> 6)) / 2 ** 53
  },
})
