import { describe, expect, it } from 'vitest'
import { createRateBound } from './rate-bound.ts'

describe('a bound on a rate', () => {
  const at = { ms: 0 }
  const bound = () => createRateBound({ burst: 10, perSecond: 2, now: () => at.ms })

  it('lets a burst through, then so much in a second (LAB-5)', () => {
    at.ms = 0
    const rate = bound()
    expect([rate.take(10), rate.take(1)]).toEqual([true, false])
    at.ms = 500
    expect([rate.take(1), rate.take(1)]).toEqual([true, false])
  })

  it('never holds more than a burst, however long nothing came (LAB-5)', () => {
    at.ms = 0
    const rate = bound()
    at.ms = 1e9
    expect([rate.take(11), rate.take(10), rate.take(1)]).toEqual([false, true, false])
  })
})
