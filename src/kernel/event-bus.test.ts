import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventBus } from './event-bus.ts'
import { createRedactor } from './redact.ts'

/** A promise that the test opens. */
function gate() {
  let open = () => {}
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}

describe('subscribe', () => {
  it('delivers every event to every subscriber, in order, after emit returned (KER-7)', async () => {
    const bus = createEventBus<number>()
    const [left, right]: number[][] = [[], []]
    bus.subscribe((event) => left?.push(event))
    bus.subscribe(async (event) => {
      await nextTurn()
      right?.push(event)
    })
    for (let i = 0; i < 5; i++) expect(bus.emit(i)).toBe(true)
    expect(left).toEqual([])
    await bus.flush()
    expect([left, right]).toEqual([
      [0, 1, 2, 3, 4],
      [0, 1, 2, 3, 4],
    ])
  })

  it('handles one event at a time (KER-7)', async () => {
    const bus = createEventBus<number>()
    let inside = 0
    let most = 0
    bus.subscribe(async () => {
      most = Math.max(most, ++inside)
      await nextTurn()
      inside -= 1
    })
    for (let i = 0; i < 4; i++) bus.emit(i)
    await bus.flush()
    expect(most).toBe(1)
  })

  it('never lets a subscriber that hangs slow the producer or the others (KER-7)', async () => {
    const bus = createEventBus<number>({ capacity: 10 })
    const seen: number[] = []
    bus.subscribe(() => new Promise(() => {}), { name: 'hangs' })
    bus.subscribe((event) => seen.push(event), { lossless: true })
    for (let i = 0; i < 100_000; i++) bus.emit(i)
    while (seen.length < 100_000) await nextTurn()
    expect(seen.at(-1)).toBe(99_999)
  })

  it('drops the oldest for a slow subscriber, and tells it and us how many (KER-7)', async () => {
    const gaps: unknown[] = []
    const bus = createEventBus<number>({ capacity: 3, onGap: (gap) => gaps.push(gap) })
    const first = gate()
    const seen: string[] = []
    bus.subscribe(
      async (event, { missed }) => {
        seen.push(`${event} after ${missed} missed`)
        if (event === 0) await first.promise
      },
      { name: 'progress' },
    )
    bus.emit(0)
    await nextTurn()
    for (let i = 1; i <= 10; i++) bus.emit(i)
    first.open()
    await bus.flush()
    expect(seen).toEqual(['0 after 0 missed', '8 after 7 missed', '9 after 0 missed', '10 after 0 missed'])
    expect(gaps).toEqual([{ subscriber: 'progress', missed: 7 }])
  })

  it('accounts for every event: seen plus missed is emitted (KER-7)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        async (pauses, capacity) => {
          const bus = createEventBus<number>({ capacity })
          const slow: number[] = []
          const all: number[] = []
          let lost = 0
          bus.subscribe(async (event, { missed }) => {
            slow.push(event)
            lost += missed
            await nextTurn()
          })
          bus.subscribe((event) => all.push(event), { lossless: true })
          for (const [i, pause] of pauses.entries()) {
            bus.emit(i)
            if (pause) await nextTurn()
          }
          await bus.flush()
          expect(all).toEqual([...pauses.keys()])
          expect(slow).toEqual(slow.toSorted((a, b) => a - b))
          expect(slow.length + lost).toBe(pauses.length)
        },
      ),
    )
  })

  it('isolates and reports a subscriber that throws, sync or async (KER-7)', async () => {
    const failures: unknown[] = []
    const bus = createEventBus<number>({ onError: (failure) => failures.push(failure) })
    const seen: number[] = []
    bus.subscribe(
      (event) => {
        if (event === 1) throw 'sync'
        return event === 2 ? Promise.reject('async') : seen.push(event)
      },
      { name: 'bad' },
    )
    bus.subscribe((event) => seen.push(event * 10))
    for (const event of [0, 1, 2, 3]) bus.emit(event)
    await bus.flush()
    expect(seen.toSorted((a, b) => a - b)).toEqual([0, 0, 3, 10, 20, 30])
    expect(failures).toEqual([
      { subscriber: 'bad', error: 'sync' },
      { subscriber: 'bad', error: 'async' },
    ])
  })

  it('warns when nobody wants to hear of failures, or that one fails too (KER-7)', async () => {
    const warnings: string[] = []
    const collect = (warning: Error) => warnings.push(warning.message)
    process.on('warning', collect)
    const fail = () => {
      throw new Error('broken')
    }
    const silent = createEventBus<number>()
    silent.subscribe(fail, { name: 'a' })
    const reporting = createEventBus<number>({ onError: fail, onGap: fail, capacity: 1 })
    reporting.subscribe(fail, { name: 'b' })
    silent.emit(1)
    reporting.emit(1)
    reporting.emit(2)
    await Promise.all([silent.flush(), reporting.flush()])
    await nextTurn()
    process.off('warning', collect)
    expect(warnings.sort()).toEqual([
      'event subscriber "a" failed: broken',
      'event subscriber "onError for b" failed: broken',
      'event subscriber "onError for onGap" failed: broken',
    ])
  })

  it('stops at unsubscribe, also for what waits', async () => {
    const bus = createEventBus<number>()
    const seen: number[] = []
    const stop = bus.subscribe((event) => {
      seen.push(event)
      if (event === 1) stop()
    })
    for (const event of [0, 1, 2]) bus.emit(event)
    await bus.flush()
    bus.emit(3)
    await bus.flush()
    expect(seen).toEqual([0, 1])
  })

  it('lets a subscriber emit and subscribe', async () => {
    const bus = createEventBus<number>()
    const seen: number[] = []
    bus.subscribe((event) => {
      seen.push(event)
      if (event < 3) bus.emit(event + 1)
    })
    bus.emit(0)
    while (seen.length < 4) await bus.flush()
    expect(seen).toEqual([0, 1, 2, 3])
  })

  it('gives timers their turn while a backlog is worked off (KER-7)', async () => {
    const bus = createEventBus<number>()
    let handled = 0
    bus.subscribe(() => ++handled, { lossless: true })
    for (let i = 0; i < 10_000; i++) bus.emit(i)
    await nextTurn()
    await nextTurn()
    expect(handled).toBeLessThan(10_000)
    await bus.flush()
    expect(handled).toBe(10_000)
  })
})

describe('redact', () => {
  it('is applied once, before anybody sees the event (KER-7, KER-13)', async () => {
    let calls = 0
    const bus = createEventBus<string>({
      redact(event) {
        calls += 1
        return event.replace('hunter2', '[secret]')
      },
    })
    const seen: string[] = []
    bus.subscribe((event) => seen.push(event))
    bus.subscribe((event) => seen.push(event))
    bus.emit('password hunter2')
    await bus.flush()
    expect(seen).toEqual(['password [secret]', 'password [secret]'])
    expect(calls).toBe(1)
  })

  it('takes a redactor as it is (KER-13)', async () => {
    const redact = createRedactor({ KEY: 'hunter2-long' })
    const bus = createEventBus<{ type: 'log'; text: string }>({ redact })
    const loop = bus.events()
    bus.emit({ type: 'log', text: 'GET /?key=hunter2-long' })
    expect((await loop.next()).value).toEqual({ event: { type: 'log', text: 'GET /?key=[secret:KEY]' }, missed: 0 })
    await bus.close()
  })

  it('that fails keeps the event from everybody, and is reported (KER-13)', async () => {
    const failures: unknown[] = []
    const bus = createEventBus<string>({
      redact() {
        throw 'cannot'
      },
      onError: (failure) => failures.push(failure),
    })
    const seen: string[] = []
    bus.subscribe((event) => seen.push(event))
    expect(bus.emit('hunter2')).toBe(false)
    await bus.flush()
    expect(seen).toEqual([])
    expect(failures).toEqual([{ subscriber: 'redact', error: 'cannot' }])
  })
})

describe('flush and close', () => {
  it('flush waits for what was emitted before it, not for what comes after', async () => {
    const bus = createEventBus<number>()
    const later = gate()
    const seen: number[] = []
    bus.subscribe(async (event) => {
      if (event === 2) await later.promise
      seen.push(event)
    })
    bus.emit(1)
    const flushed = bus.flush()
    bus.emit(2)
    await flushed
    expect(seen).toEqual([1])
    later.open()
    await bus.close()
    expect(seen).toEqual([1, 2])
  })

  it('give up at the signal when a subscriber hangs (KER-7)', async () => {
    const bus = createEventBus<number>()
    bus.subscribe(() => new Promise(() => {}))
    bus.emit(1)
    const control = new AbortController()
    const waits = [bus.flush(control.signal), bus.close(control.signal)]
    for (const wait of waits) wait.catch(() => {})
    await nextTurn()
    control.abort('enough')
    for (const wait of waits) await expect(wait).rejects.toBe('enough')
    await expect(bus.flush(AbortSignal.abort('before'))).rejects.toBe('before')
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(0)
  })

  it('flush does not wait for who has unsubscribed', async () => {
    const bus = createEventBus<number>()
    const stop = bus.subscribe(() => new Promise(() => {}))
    bus.emit(1)
    const flushed = bus.flush()
    await nextTurn()
    stop()
    await flushed
  })

  it('close delivers what was emitted, and takes nothing more (KER-7)', async () => {
    const seen: number[] = []
    {
      await using bus = createEventBus<number>()
      bus.subscribe(async (event) => {
        await nextTurn()
        seen.push(event)
      })
      for (let i = 0; i < 3; i++) bus.emit(i)
      const closing = bus.close()
      expect(bus.emit(9)).toBe(false)
      await closing
      bus.subscribe((event) => seen.push(event))
    }
    expect(seen).toEqual([0, 1, 2])
  })
})

describe('events', () => {
  it('yields events from the call on, until the bus is closed (KER-7)', async () => {
    const bus = createEventBus<number>()
    bus.emit(0)
    const loop = bus.events()
    bus.emit(1)
    bus.emit(2)
    await bus.close()
    const seen: unknown[] = []
    for await (const delivery of loop) seen.push(delivery)
    expect(seen).toEqual([
      { event: 1, missed: 0 },
      { event: 2, missed: 0 },
    ])
    for await (const _ of bus.events()) throw new Error('a closed bus has no events')
  })

  it('wakes a waiting loop, and ends it at close', async () => {
    const bus = createEventBus<number>()
    const seen: number[] = []
    const following = (async () => {
      for await (const { event } of bus.events()) seen.push(event)
    })()
    await nextTurn()
    bus.emit(1)
    await nextTurn()
    expect(seen).toEqual([1])
    await bus.close()
    await following
  })

  it('answers several askers in order', async () => {
    const bus = createEventBus<number>()
    const loop = bus.events()
    const asked = [loop.next(), loop.next(), loop.next()]
    bus.emit(1)
    bus.emit(2)
    await bus.close()
    expect((await Promise.all(asked)).map((step) => step.value?.event)).toEqual([1, 2, undefined])
  })

  it('counts what a slow loop missed, and does not hold up flush (KER-7)', async () => {
    const gaps: unknown[] = []
    const bus = createEventBus<number>({ capacity: 2, onGap: (gap) => gaps.push(gap) })
    const loop = bus.events({ name: 'stream' })
    for (let i = 0; i < 5; i++) bus.emit(i)
    await bus.flush()
    expect(await loop.next()).toEqual({ done: false, value: { event: 3, missed: 3 } })
    expect(gaps).toEqual([{ subscriber: 'stream', missed: 3 }])
    await bus.close()
  })

  it('unsubscribes when the loop is left', async () => {
    const bus = createEventBus<number>()
    const control = new AbortController()
    const loop = bus.events({ signal: control.signal })
    bus.emit(1)
    for await (const _ of loop) break
    bus.emit(2)
    expect(await loop.next()).toEqual({ done: true, value: undefined })
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(0)
  })

  it('throws the reason at an abort, in a waiting loop and afterwards', async () => {
    const bus = createEventBus<number>()
    const control = new AbortController()
    const loop = bus.events({ signal: control.signal })
    const asked = loop.next()
    control.abort('enough')
    await expect(asked).rejects.toBe('enough')
    bus.emit(1)
    await expect(loop.next()).rejects.toBe('enough')
    await expect(bus.events({ signal: control.signal }).next()).rejects.toBe('enough')
  })
})
