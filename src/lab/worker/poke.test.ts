import { describe, expect, it, vi } from 'vitest'
import { createPoke } from './poke.ts'

describe('pokes', () => {
  it('come at once, then seldom, and never miss the end (LAB-7)', () => {
    vi.useFakeTimers()
    try {
      const told: number[] = []
      const poke = createPoke((next) => told.push(next))
      for (let next = 2; next <= 1000; next++) poke.written(next)
      expect(told).toEqual([2])
      vi.advanceTimersByTime(1000)
      expect(told).toEqual([2, 1000])
      poke.written(1001)
      poke.written(1002)
      poke.close()
      expect(told).toEqual([2, 1000, 1001, 1002])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
