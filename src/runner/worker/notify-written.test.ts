import { describe, expect, it, vi } from 'vitest'
import { notifyWritten } from './segment-writer.ts'

describe('noticess', () => {
  it('come at once, then seldom, and never miss the end (LAB-7)', () => {
    vi.useFakeTimers()
    try {
      const sent: number[] = []
      const notices = notifyWritten((next) => sent.push(next))
      for (let next = 2; next <= 1000; next++) notices.written(next)
      expect(sent).toEqual([2])
      vi.advanceTimersByTime(1000)
      expect(sent).toEqual([2, 1000])
      notices.written(1001)
      notices.written(1002)
      notices.close()
      expect(sent).toEqual([2, 1000, 1001, 1002])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
