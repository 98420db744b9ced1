import { describe, expect, it } from 'vitest'
import { systemRandom } from './system-random.ts'

describe('systemRandom', () => {
  it('draws whole 32-bit words and floats below one, beyond its pool', () => {
    const words = Array.from({ length: 1_000 }, () => systemRandom.uint32())
    expect(words.every((word) => Number.isInteger(word) && word >= 0 && word < 2 ** 32)).toBe(true)
    // 1,000 words of 32 bits: even one repetition has a chance of 1 in 8,600, ten have none.
    expect(new Set(words).size).toBeGreaterThan(990)
    const floats = Array.from({ length: 1_000 }, () => systemRandom.float())
    expect(floats.every((float) => float >= 0 && float < 1)).toBe(true)
  })
})
