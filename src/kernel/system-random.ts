// Randomness that nobody can repeat, for what must differ between processes: ids, and the jitter of real requests.
import { randomFillSync } from 'node:crypto'

const pool = new Uint32Array(256)
let used = pool.length

/** Random bits of the operating system. Nothing that a run's result depends on may use them. */
export const systemRandom = Object.freeze({
  /** 32 uniform bits. */
  uint32(): number {
    if (used === pool.length) {
      randomFillSync(pool)
      used = 0
    }
    const value = pool[used] ?? 0
    pool[used++] = 0 // what was given out is not kept
    return value
  },
  /** Uniform in [0, 1). */
  float(): number {
    return ((systemRandom.uint32() >>> 5) * 2 ** 26 + (systemRandom.uint32() >>> 6)) / 2 ** 53
  },
})
