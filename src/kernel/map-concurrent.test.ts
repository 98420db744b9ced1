import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateBound, createSlots, mapConcurrent, onAbort } from './map-concurrent.ts'

const never = () => new AbortController().signal
const turns = async (n: number) => {
  for (let i = 0; i < n; i++) await null
}

/** A promise that the test settles. */
function gate<T = void>() {
  let open: (value: T) => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  return { promise, open, fail }
}

async function* counting(log: string[], from = 0) {
  try {
    for (let i = from; ; i++) {
      log.push(`pull ${i}`)
      yield i
    }
  } finally {
    log.push('closed')
  }
}

describe('mapConcurrent', () => {
  it('keeps order and bounds concurrency, for lists and async sources (KER-9)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 12 }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        fc.boolean(),
        async (delays, limit, asynchronous) => {
          let running = 0
          let most = 0
          const items = asynchronous
            ? (async function* () {
                yield* delays
              })()
            : delays
          const results = await mapConcurrent(items, { limit, signal: never() }, async (delay, index) => {
            running += 1
            most = Math.max(most, running)
            await turns(delay)
            running -= 1
            return `${index}:${delay}`
          })
          expect(results).toEqual(delays.map((delay, index) => `${index}:${delay}`))
          expect(most).toBeLessThanOrEqual(limit)
          expect(running).toBe(0)
        },
      ),
    )
  })

  it('runs as many as the limit allows, all at once (KER-9)', async () => {
    const gates = Array.from({ length: 5 }, () => gate())
    const started: number[] = []
    const all = mapConcurrent(gates, { limit: 3, signal: never() }, async ({ promise }, index) => {
      started.push(index)
      await promise
    })
    await nextTurn()
    expect(started).toEqual([0, 1, 2])
    gates[1]?.open()
    await nextTurn()
    expect(started).toEqual([0, 1, 2, 3])
    for (const each of gates) each.open()
    await all
    expect(started).toEqual([0, 1, 2, 3, 4])
  })

  it('pulls from a source only what it can start, and closes it after a failure (KER-9)', async () => {
    const log: string[] = []
    const all = mapConcurrent(counting(log), { limit: 2, signal: never() }, async (item) => {
      if (item === 3) throw new Error('three')
    })
    await expect(all).rejects.toThrow('three')
    expect(log.filter((each) => each === 'closed')).toHaveLength(1)
    expect(log.filter((each) => each.startsWith('pull')).length).toBeLessThanOrEqual(6)
  })

  it('holds back the source while all lanes are busy (KER-9)', async () => {
    const log: string[] = []
    const control = new AbortController()
    const all = mapConcurrent(counting(log), { limit: 2, signal: control.signal }, (_item, _index, signal) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    await nextTurn()
    expect(log).toEqual(['pull 0', 'pull 1'])
    control.abort('stop')
    await expect(all).rejects.toBe('stop')
    expect(log).toEqual(['pull 0', 'pull 1', 'closed'])
  })

  it('asks a source one question at a time, and keeps all lanes busy (KER-9)', async () => {
    let asking = 0
    let count = 0
    const source = {
      [Symbol.asyncIterator]: () => ({
        async next(): Promise<IteratorResult<number>> {
          expect(++asking).toBe(1)
          await nextTurn()
          asking -= 1
          return count < 6 ? { done: false, value: count++ } : { done: true, value: undefined }
        },
      }),
    }
    let waiting: (() => void)[] = []
    const all = mapConcurrent(source, { limit: 3, signal: never() }, async (item) => {
      await new Promise<void>((resolve) => waiting.push(resolve))
      return item
    })
    // Three finish in the same moment and ask again together; three must be running again.
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 10; i++) await nextTurn()
      expect(waiting).toHaveLength(3)
      const finished = waiting
      waiting = []
      for (const finish of finished) finish()
    }
    expect(await all).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('aborts siblings at the first failure, waits for all, throws the first (KER-9)', async () => {
    const log: string[] = []
    const first = new Error('first')
    const cleanup = gate()
    let settled = false
    const all = mapConcurrent([0, 1, 2, 3], { limit: 3, signal: never() }, async (item, _index, signal) => {
      if (item === 1) {
        await nextTurn() // all three lanes are under way
        throw first
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      expect(signal.reason).toBe(first)
      await cleanup.promise
      log.push(`cleaned ${item}`)
      throw new Error(`late ${item}`)
    }).finally(() => {
      settled = true
    })
    all.catch(() => {})
    for (let i = 0; i < 5; i++) await nextTurn()
    expect(settled).toBe(false)
    cleanup.open()
    await expect(all).rejects.toBe(first)
    expect(log.sort()).toEqual(['cleaned 0', 'cleaned 2'])
  })

  it('counts what throws before it returns a promise as a failure (KER-9)', async () => {
    const all = mapConcurrent([1], { limit: 1, signal: never() }, () => {
      throw new Error('early')
    })
    await expect(all).rejects.toThrow('early')
  })

  it('throws undefined when that is what was thrown (KER-9)', async () => {
    const all = mapConcurrent([1, 2], { limit: 2, signal: never() }, () => Promise.reject(undefined))
    await expect(all).rejects.toBeUndefined()
  })

  it('stops at the signal, waits for all, throws its reason (KER-9)', async () => {
    const control = new AbortController()
    const ended: number[] = []
    const all = mapConcurrent([0, 1, 2, 3, 4], { limit: 2, signal: control.signal }, async (item, _index, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.push(item)
      throw new Error('wrapped')
    })
    await nextTurn()
    control.abort('stop')
    await expect(all).rejects.toBe('stop')
    expect(ended).toEqual([0, 1])
  })

  it('prefers the failure that came before the abort (KER-9)', async () => {
    const control = new AbortController()
    const all = mapConcurrent([0, 1], { limit: 2, signal: control.signal }, async (item, _index, signal) => {
      if (item === 0) throw new Error('first')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      control.abort('second')
    })
    await expect(all).rejects.toThrow('first')
  })

  it('starts nothing when the signal has already aborted (KER-9)', async () => {
    const log: string[] = []
    const all = mapConcurrent(counting(log), { limit: 2, signal: AbortSignal.abort('late') }, () => {})
    await expect(all).rejects.toBe('late')
    expect(log).toEqual([])
  })

  it('does not wait for a source that never answers (KER-9)', async () => {
    const control = new AbortController()
    const source = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<number>>(() => {}) }),
    }
    const all = mapConcurrent(source, { limit: 2, signal: control.signal }, () => {})
    await nextTurn()
    control.abort('stop')
    await expect(all).rejects.toBe('stop')
  })

  it('fails with the source, after what was started (KER-9)', async () => {
    const log: string[] = []
    async function* source() {
      yield 1
      throw new Error('source')
    }
    const all = mapConcurrent(source(), { limit: 5, signal: never() }, async (item, _index, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      log.push(`ended ${item}`)
    })
    await expect(all).rejects.toThrow('source')
    expect(log).toEqual(['ended 1'])
  })

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    await mapConcurrent([1, 2, 3], { limit: 2, signal }, async (item) => item)
    await expect(mapConcurrent([1], { limit: 1, signal }, () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('maps 100,000 items', async () => {
    const items = Array.from({ length: 100_000 }, (_, i) => i)
    const results = await mapConcurrent(items, { limit: 64, signal: never() }, (item) => item + 1)
    expect(results).toEqual(items.map((item) => item + 1))
  })

  it.each([0, -1, Number.NaN])('refuses a limit of %d', async (limit) => {
    await expect(mapConcurrent([1], { limit, signal: never() }, () => {})).rejects.toThrow(RangeError)
  })
})

it('calls once at the abort, at once when it already happened, and never after it was told to stop', () => {
  const control = new AbortController()
  const calls: string[] = []
  onAbort(control.signal, () => calls.push('listened'))
  const stop = onAbort(control.signal, () => calls.push('stopped'))
  stop()
  expect(getEventListeners(control.signal, 'abort')).toHaveLength(1)
  control.abort()
  onAbort(control.signal, () => calls.push('late'))
  expect(calls).toEqual(['listened', 'late'])
})

it('lets many wait on one signal without a warning', async () => {
  const warnings: Error[] = []
  const collect = (warning: Error) => warnings.push(warning)
  process.on('warning', collect)
  const { signal } = new AbortController()
  const stops = Array.from({ length: 100 }, () => onAbort(signal, () => {}))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', collect)
  for (const stop of stops) stop()
  expect(warnings).toEqual([])
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

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

describe('slots', () => {
  it('are given in the order they were asked for, so many at a time (LAB-7)', async () => {
    const slots = createSlots(2)
    const order: number[] = []
    const ends = await Promise.all([slots.take(never()), slots.take(never())])
    const waiting = [0, 1, 2].map(async (i) => {
      using _slot = await slots.take(never())
      order.push(i)
    })
    ends[0]?.[Symbol.dispose]()
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2])
  })

  it('end once, however often that is said (LAB-7)', async () => {
    const slots = createSlots(1)
    const end = await slots.take(never())
    end[Symbol.dispose]()
    end[Symbol.dispose]()
    await slots.take(never())
    const third = new AbortController()
    const waiting = slots.take(third.signal)
    third.abort(new Error('still taken'))
    await expect(waiting).rejects.toThrow('still taken')
  })

  it('are not given to one who no longer waits (LAB-7)', async () => {
    const slots = createSlots(1)
    const end = await slots.take(never())
    const leaving = new AbortController()
    const left = slots.take(leaving.signal)
    const next = slots.take(never())
    leaving.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    end[Symbol.dispose]()
    expect(Symbol.dispose in (await next)).toBe(true)
  })
})
