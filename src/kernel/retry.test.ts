import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ManualClock, manualClock } from './clock.ts'
import { EvsysError } from './evsys-error.ts'
import { keyedRandom } from './keyed-random.ts'
import { type RetryOptions, retry } from './retry.ts'

const busy = (retryAfterMs?: number) =>
  new EvsysError('BACKEND_FAILED', 'busy', { retryable: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })

/** Runs `retry` on a clock that jumps to the end of each wait. */
async function run(work: (attempt: number) => Promise<unknown>, options: Partial<RetryOptions> = {}) {
  const clock = manualClock()
  const waits: number[] = []
  const control = new AbortController()
  let ended = false
  const outcome = retry(work, {
    signal: control.signal,
    random: { float: () => 1 },
    clock,
    onRetry: ({ waitMs }) => waits.push(waitMs),
    ...options,
  })
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    .finally(() => {
      ended = true
    })
  await drive(clock, waits, () => ended)
  return { ...(await outcome), waits, nowMs: clock.now() }
}

async function drive(clock: ManualClock, waits: readonly number[], ended: () => boolean) {
  let driven = 0
  while (!ended()) {
    if (clock.sleeping > 0) await clock.advance(waits[driven++] ?? 0)
    else await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('retry', () => {
  it('returns the first success, and says which attempt it is (KER-8)', async () => {
    const result = await run(async (attempt) => {
      if (attempt < 3) throw busy()
      return `attempt ${attempt}`
    })
    expect(result).toEqual({ value: 'attempt 3', waits: [250, 500], nowMs: 750 })
  })

  it('throws an error that is not retryable at once, as it is (KER-8)', async () => {
    for (const fatal of [new EvsysError('BACKEND_FAILED', 'no'), new TypeError('bug'), 'text', null]) {
      expect(await run(() => Promise.reject(fatal))).toEqual({ error: fatal, waits: [], nowMs: 0 })
    }
  })

  it('does not believe `retryable` on an error that is not ours, unless told to (KER-8)', async () => {
    const foreign = Object.assign(new Error('x'), { retryable: true })
    expect((await run(() => Promise.reject(foreign))).waits).toEqual([])
    const told = await run(() => Promise.reject(foreign), { retryable: () => true, attempts: 2 })
    expect(told).toMatchObject({ error: foreign, waits: [250] })
  })

  it('throws the last error when the attempts are used up (KER-8)', async () => {
    let made: EvsysError | undefined
    const result = await run(
      async () => {
        made = busy()
        throw made
      },
      { attempts: 3 },
    )
    expect(result).toEqual({ error: made, waits: [250, 500], nowMs: 750 })
  })

  it('doubles its waits up to a cap (KER-8)', async () => {
    const result = await run(() => Promise.reject(busy()), { attempts: 8, baseMs: 100, maxMs: 1_000 })
    expect(result.waits).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000])
  })

  it('stays between half of the step and the step, whatever the draw (KER-8)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 2_000 }), async (seed, attempts) => {
        const random = keyedRandom(seed, 'jitter')
        const { waits } = await run(() => Promise.reject(busy()), { attempts: Math.min(attempts, 40), random })
        waits.forEach((waitMs, i) => {
          const step = Math.min(30_000, 250 * 2 ** i)
          expect(waitMs).toBeGreaterThanOrEqual(step / 2)
          expect(waitMs).toBeLessThanOrEqual(step)
        })
      }),
      { numRuns: 20 },
    )
  })

  it('waits the same when the randomness is keyed the same (KER-8, KER-10)', async () => {
    const waits = async () => {
      const random = keyedRandom(1, 'retry')
      return (await run(() => Promise.reject(busy()), { random })).waits
    }
    expect(await waits()).toEqual(await waits())
  })

  it('waits as long as the peer asked, and gives up when that is too long (KER-8)', async () => {
    expect((await run(() => Promise.reject(busy(5_000)), { attempts: 2 })).waits).toEqual([5_000])
    expect((await run(() => Promise.reject(busy(1)), { attempts: 2 })).waits).toEqual([250])
    expect((await run(() => Promise.reject(busy(10_000_000)))).waits).toEqual([])
    expect((await run(() => Promise.reject(busy(Number.POSITIVE_INFINITY)))).waits).toEqual([])
    for (const nonsense of [-1, Number.NaN]) {
      expect((await run(() => Promise.reject(busy(nonsense)), { attempts: 2 })).waits).toEqual([250])
    }
  })

  it('stops a wait at the signal with its reason (KER-8)', async () => {
    const clock = manualClock()
    const control = new AbortController()
    const work = retry(() => Promise.reject(busy()), { signal: control.signal, random: { float: () => 1 }, clock })
    await clock.untilSleeping(1)
    control.abort('enough')
    await expect(work).rejects.toBe('enough')
    expect(clock.sleeping).toBe(0)
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(0)
  })

  it('stops at the signal even when the work does not listen (KER-8)', async () => {
    const control = new AbortController()
    const work = retry(() => new Promise(() => {}), { signal: control.signal, random: { float: () => 1 } })
    control.abort('enough')
    await expect(work).rejects.toBe('enough')
  })

  it.each([
    ['retryable', busy()],
    ['fatal', new Error('connection closed')],
  ])('throws the reason, not the %s error that the abort caused (KER-8)', async (_kind, caused) => {
    const control = new AbortController()
    let calls = 0
    const work = retry(
      () => {
        calls += 1
        control.abort('enough')
        throw caused // in the same breath, before there is a promise
      },
      { signal: control.signal, random: { float: () => 1 } },
    )
    await expect(work).rejects.toBe('enough')
    expect(calls).toBe(1)
  })

  it('does not begin after the signal (KER-8)', async () => {
    let calls = 0
    const work = retry(async () => ++calls, { signal: AbortSignal.abort('late'), random: { float: () => 1 } })
    await expect(work).rejects.toBe('late')
    expect(calls).toBe(0)
  })

  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController()
    await retry(async () => 1, { signal, random: { float: () => 1 } })
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it.each([0, -1, Number.NaN])('refuses %d attempts', async (attempts) => {
    expect(await run(async () => 1, { attempts })).toMatchObject({ error: expect.any(RangeError) })
  })
})
