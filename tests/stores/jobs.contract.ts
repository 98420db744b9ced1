import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { DurableJobs, JobOptions, Steps } from '../../src/contracts/index.ts'
import { manualClock } from '../../src/kernel/index.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

const OPTIONS: JobOptions = { leaseMs: 1000, attempts: 3, backoffMs: 100, maxBackoffMs: 150 }
const never = new AbortController().signal
const HOUR = 3_600_000

export function describeJobs(under: StoreUnderTest): void {
  const setUp = async (options: JobOptions = OPTIONS) => {
    const address = under.address()
    const clock = manualClock(1_800_000_000_000)
    const [one, two] = [await openForTest(address, { clock }), await openForTest(address, { clock })]
    return { clock, ann: one.jobs(options), bob: two.jobs(options), store: one }
  }

  describe('a durable job', () => {
    it('is done once, by whoever claims it first (STO-10)', async () => {
      const { ann, bob } = await setUp()
      expect(await ann.state('j')).toBeUndefined()
      await ann.submit('j', { n: 1, text: 'a\0b' })
      await bob.submit('j', { n: 2 })
      expect(await bob.state('j')).toEqual({ state: 'ready', attempt: 0 })
      const seen: unknown[] = []
      const work = (jobs: DurableJobs, owner: string) => jobs.work(owner, async (job) => void seen.push(job), never)
      expect((await Promise.all([work(ann, 'ann'), work(bob, 'bob')])).sort()).toEqual(['done', 'idle'])
      expect(seen).toEqual([{ id: 'j', payload: { n: 1, text: 'a\0b' }, attempt: 1, epoch: 1 }])
      expect(await ann.state('j')).toEqual({ state: 'done', attempt: 1 })
      await ann.submit('j', { n: 3 })
      expect(await work(ann, 'ann')).toBe('idle')
    })

    it('goes to workers of its queue alone, oldest first (STO-10)', async () => {
      const { clock, store } = await setUp()
      const [left, right] = [store.jobs({ ...OPTIONS, queue: 'left' }), store.jobs({ ...OPTIONS, queue: 'right' })]
      await left.submit('j', 'old')
      await clock.advance(1)
      await left.submit('i', 'new')
      expect(await right.state('j')).toBeUndefined()
      expect(await right.work('r', async () => {}, never)).toBe('idle')
      const order: unknown[] = []
      while ((await left.work('l', async ({ payload }) => void order.push(payload), never)) !== 'idle');
      expect(order).toEqual(['old', 'new'])
    })

    it('that fails waits ever longer, up to a cap, then is dead with its last error (STO-10)', async () => {
      const { clock, ann } = await setUp({ ...OPTIONS, attempts: 4 })
      await ann.submit('j', null)
      let n = 0
      const attempt = () => ann.work('ann', async () => Promise.reject(new Error(`failure ${++n}`)), never)
      expect(await attempt()).toBe('failed')
      for (const waitMs of [100, 150]) {
        expect(await ann.state('j')).toEqual({ state: 'ready', attempt: n, lastError: `failure ${n}` })
        await clock.advance(waitMs - 1)
        expect(await attempt()).toBe('idle')
        await clock.advance(1)
        expect(await attempt()).toBe('failed')
      }
      await clock.advance(150)
      expect(await attempt()).toBe('dead')
      expect(await ann.state('j')).toEqual({ state: 'dead', attempt: 4, lastError: 'failure 4' })
      await clock.advance(HOUR)
      expect(await attempt()).toBe('idle')
    })

    it('that kills every worker is dead after its attempts (STO-10)', async () => {
      const { clock, ann, bob } = await setUp()
      await ann.submit('j', null)
      for (let attempt = 1; attempt <= 3; attempt++) {
        void ann.work(`worker ${attempt}`, hang, never) // and is never heard of again
        await clock.untilSleeping(attempt)
        clock.set(clock.now() + 1001)
        expect(await bob.state('j')).toMatchObject({ state: 'running', attempt })
      }
      expect(await bob.work('bob', async () => {}, never)).toBe('idle')
      expect(await bob.state('j')).toMatchObject({
        state: 'dead',
        attempt: 3,
        lastError: expect.stringContaining('3 times'),
      })
    })

    it('stays with a worker that keeps up its heartbeat (STO-10)', async () => {
      const { clock, ann, bob } = await setUp()
      await ann.submit('j', null)
      const end = deferred()
      const working = ann.work('ann', () => end.promise, never)
      await clock.untilSleeping(1)
      for (let beat = 0; beat < 20; beat++) {
        await clock.advance(200)
        await clock.untilSleeping(1)
        expect(await bob.work('bob', async () => {}, never)).toBe('idle')
      }
      end.resolve()
      expect(await working).toBe('done')
    })

    it('taken over from a worker that paused is lost to it: it cannot write (STO-10, STO-9)', async () => {
      const { clock, ann, bob } = await setUp()
      await ann.submit('j', null)
      const paused = deferred()
      const late = async (_job: unknown, steps: Steps) => {
        await steps.run('s', z.string(), () => paused.promise.then(() => 'late'))
      }
      const slow = ann.work('ann', late, never)
      await clock.untilSleeping(1)
      clock.set(clock.now() + 1001) // its process was stopped: no heartbeat came
      const quick = await bob.work(
        'bob',
        async (_job, steps) => void (await steps.run('s', z.string(), async () => 'first')),
        never,
      )
      expect(quick).toBe('done')
      paused.resolve()
      expect(await slow).toBe('lost')
      expect(await ann.state('j')).toEqual({ state: 'done', attempt: 2 })
    })

    it('tells a worker by its next heartbeat that it lost the job (STO-10)', async () => {
      const { clock, ann, bob } = await setUp()
      await ann.submit('j', null)
      const slow = ann.work('ann', (_job, _steps, signal) => aborted(signal), never)
      await clock.untilSleeping(1)
      clock.set(clock.now() + 1001)
      const taken = deferred()
      const quick = bob.work('bob', () => taken.promise, never)
      await clock.untilSleeping(2)
      await clock.advance(200)
      expect(await slow).toBe('lost')
      taken.resolve()
      expect(await quick).toBe('done')
    })

    it('is cancelled before it starts, while it runs, and after its worker died (STO-10)', async () => {
      const { clock, ann, bob } = await setUp()
      for (const id of ['a', 'b', 'c']) await ann.submit(id, null)
      await ann.cancel('a')
      expect(await ann.state('a')).toEqual({ state: 'cancelled', attempt: 0 })
      const running = ann.work('ann', (_job, _steps, signal) => aborted(signal), never)
      await clock.untilSleeping(1)
      await bob.cancel('b')
      await clock.advance(200)
      expect(await running).toBe('cancelled')
      expect(await ann.state('b')).toMatchObject({
        state: 'cancelled',
        lastError: expect.stringContaining('cancelled'),
      })
      void ann.work('dead', hang, never)
      await clock.untilSleeping(1)
      await bob.cancel('c')
      clock.set(clock.now() + 1001)
      expect(await bob.work('bob', async () => {}, never)).toBe('idle')
      expect(await bob.state('c')).toMatchObject({ state: 'cancelled' })
      await bob.cancel('nobody') // is no job, and no error
      await bob.cancel('a')
      expect(await ann.state('a')).toMatchObject({ state: 'cancelled' })
    })

    it('of a worker that is stopped is as ready as before (STO-10)', async () => {
      const { clock, ann, bob } = await setUp({ ...OPTIONS, attempts: 1 })
      await ann.submit('j', null)
      const stop = new AbortController()
      const working = ann.work('ann', (_job, _steps, signal) => aborted(signal), stop.signal)
      await clock.untilSleeping(1)
      stop.abort()
      expect(await working).toBe('released')
      expect(await ann.state('j')).toMatchObject({ state: 'ready', attempt: 0 })
      expect(await bob.work('bob', async () => {}, never)).toBe('done')
      await expect(ann.work('ann', async () => {}, stop.signal)).rejects.toThrow('aborted')
    })

    it('waits for no clock that is set back (STO-10)', async () => {
      const { clock, ann, bob } = await setUp()
      await ann.submit('j', null)
      void ann.work('dead', hang, never)
      await clock.untilSleeping(1)
      clock.set(clock.now() - HOUR)
      expect(await bob.work('bob', async () => Promise.reject(new Error('x')), never)).toBe('failed')
      clock.set(clock.now() - HOUR)
      expect(await bob.work('bob', async () => {}, never)).toBe('done')
    })
  })

  describe('a durable step', () => {
    it('is not done again by the next attempt, which gets its output (STO-10)', async () => {
      const { clock, ann, bob } = await setUp()
      await ann.submit('j', null)
      const done: string[] = []
      const work = (owner: string, fails: boolean) => async (_job: unknown, steps: Steps) => {
        const first = await steps.run('first', z.object({ by: z.string(), text: z.string() }), async () => {
          done.push(`first by ${owner}`)
          return { by: owner, text: 'a\0\ud800' }
        })
        expect(first).toEqual({ by: 'ann', text: 'a\0\ud800' })
        await steps.run('nothing', z.undefined(), async () => void done.push(`nothing by ${owner}`))
        if (fails) throw new Error('power cut')
      }
      expect(await ann.work('ann', work('ann', true), never)).toBe('failed')
      await clock.advance(HOUR)
      expect(await bob.work('bob', work('bob', false), never)).toBe('done')
      expect(done).toEqual(['first by ann', 'nothing by ann'])
    })

    it('that throws is not remembered, and its error is the job’s (STO-10)', async () => {
      const { clock, ann } = await setUp()
      await ann.submit('j', null)
      let n = 0
      const work = async (_job: unknown, steps: Steps) => {
        await steps.run('s', z.number(), async () => {
          n += 1
          if (n === 1) throw new TypeError('not yet')
          return n
        })
      }
      expect(await ann.work('ann', work, never)).toBe('failed')
      expect(await ann.state('j')).toMatchObject({ lastError: 'not yet' })
      await clock.advance(HOUR)
      expect(await ann.work('ann', work, never)).toBe('done')
    })

    it('whose output could not be read again is an error at once (STO-10)', async () => {
      const { ann } = await setUp({ ...OPTIONS, attempts: 1 })
      const outputs: [string, unknown, z.ZodType][] = [
        ['nan', Number.NaN, z.number()],
        ['map', new Map([[1, 2]]), z.map(z.number(), z.number())],
        ['wrong', 'text', z.number()],
      ]
      for (const [id, output, schema] of outputs) {
        await ann.submit(id, null)
        expect(
          await ann.work('ann', async (_job, steps) => void (await steps.run('s', schema, async () => output)), never),
        ).toBe('dead')
        expect(await ann.state(id), id).toMatchObject({ lastError: expect.stringContaining('output of step s') })
      }
    })

    it('asked for twice at once has one output (STO-10)', async () => {
      const { ann } = await setUp()
      await ann.submit('j', null)
      let n = 0
      let outputs: number[] = []
      const work = async (_job: unknown, steps: Steps) => {
        const step = () => steps.run('s', z.number(), async () => ++n)
        outputs = await Promise.all([step(), step(), step()])
      }
      expect(await ann.work('ann', work, never)).toBe('done')
      expect(new Set(outputs).size).toBe(1)
    })
  })
}

/** A worker whose process dies: its work never ends and nothing of it is heard again. */
function hang(): Promise<void> {
  return new Promise(() => {})
}

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  throw signal.reason
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
