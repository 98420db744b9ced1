import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { manualClock, systemClock } from './clock.ts'

const never = () => new AbortController().signal

describe('manualClock', () => {
  it('wakes sleepers in the order of their times, and only those whose time has come', async () => {
    const clock = manualClock(1_000)
    const woken: string[] = []
    const sleep = async (name: string, ms: number) => {
      await clock.sleep(ms, never())
      woken.push(`${name} ${clock.now()}`)
    }
    const all = [sleep('c', 30), sleep('a', 10), sleep('b', 10), sleep('zero', 0)]
    await clock.advance(29)
    expect(woken).toEqual(['zero 1000', 'a 1010', 'b 1010'])
    expect([clock.now(), clock.sleeping]).toEqual([1_029, 1])
    await clock.advance(1)
    await Promise.all(all)
    expect(woken.at(-1)).toBe('c 1030')
  })

  it('wakes who sleeps again within one advance', async () => {
    const clock = manualClock()
    const times: number[] = []
    const ticking = (async () => {
      for (let i = 0; i < 3; i++) {
        await clock.sleep(10, never())
        times.push(clock.now())
      }
    })()
    await clock.advance(100)
    await ticking
    expect(times).toEqual([10, 20, 30])
    expect(clock.now()).toBe(100)
  })

  it('lets waits go on when the clock is set', async () => {
    const clock = manualClock(1_000)
    const wait = clock.sleep(10, never())
    clock.set(0)
    await clock.advance(10)
    await wait
    expect(clock.now()).toBe(10)
  })

  it('ends a wait at an abort with its reason', async () => {
    const clock = manualClock()
    const control = new AbortController()
    const wait = clock.sleep(10, control.signal)
    control.abort('enough')
    await expect(wait).rejects.toBe('enough')
    await expect(clock.sleep(10, control.signal)).rejects.toBe('enough')
    expect(clock.sleeping).toBe(0)
  })

  it('tells when somebody sleeps', async () => {
    const clock = manualClock()
    const two = clock.untilSleeping(2)
    const waits = [clock.sleep(1, never()), clock.sleep(1, never())]
    await two
    await clock.advance(1)
    await Promise.all(waits)
  })
})

describe('systemClock', () => {
  it('waits, and leaves no listener on the signal', async () => {
    const control = new AbortController()
    const before = Date.now()
    await Promise.all(Array.from({ length: 50 }, () => systemClock.sleep(0, control.signal)))
    expect(systemClock.now()).toBeGreaterThanOrEqual(before)
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(0)
  })

  it('stops at an abort, also in a wait longer than timers can be', async () => {
    const control = new AbortController()
    const wait = systemClock.sleep(2 ** 40, control.signal)
    control.abort('enough')
    await expect(wait).rejects.toBe('enough')
    await expect(systemClock.sleep(1, control.signal)).rejects.toBe('enough')
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses to wait %d ms', async (ms) => {
    await expect(systemClock.sleep(ms, never())).rejects.toThrow(RangeError)
    await expect(manualClock().sleep(ms, never())).rejects.toThrow(RangeError)
  })
})
