import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Item, Store } from '../../src/contracts/index.ts'
import { eventsOf, recordRun, recordSample, TIME } from '../sample-plan.ts'
import { scaled } from '../scale.ts'
import { arbitraryItems } from './arbitrary-items.ts'
import { dumpRun } from './dump-run.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeIngest(under: StoreUnderTest): void {
  describe('items', () => {
    it('arrive exactly once, however they are cut, repeated and overlapped (STO-3, STO-16)', async () => {
      const store = await openForTest(under.address())
      const windows = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(8)), { maxLength: 12 })
      await fc.assert(
        fc.asyncProperty(arbitraryItems('r'), windows, async (items, cuts) => {
          const whole = await recordRun(store)
          const pieces = await recordRun(store)
          await push(store, whole, items)
          let next = 1
          for (const [where, length] of cuts) {
            const start = Math.min(next - 1, Math.floor(where * next)) // anywhere before the first item that is new
            const { nextSeq } = await push(store, pieces, items.slice(start, start + length), start + 1)
            expect(nextSeq).toBe(Math.max(next, Math.min(items.length, start + length) + 1))
            next = nextSeq
          }
          expect(await push(store, pieces, items)).toEqual({ stream: `run:${pieces}`, nextSeq: items.length + 1 })
          expect(await dumpRun(store, pieces)).toEqual(await dumpRun(store, whole))
        }),
        { numRuns: scaled(25) },
      )
    })

    it('that are missing are asked for, and nothing after them is stored (STO-3)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const events = eventsOf(
        runId,
        [1, 2, 3, 4].map((n) => ({ type: 'notice', text: `${n}` })),
      )
      await push(store, runId, events.slice(0, 1))
      await expect(push(store, runId, events.slice(2), 3)).rejects.toMatchObject({
        code: 'STORE_CONFLICT',
        message: expect.stringContaining('items 2 to 2 are missing'),
        fix: expect.stringContaining('send again'),
      })
      expect(await store.cursor(`run:${runId}`)).toEqual({ nextItem: 2, nextEvent: 2 })
      for (const fromSeq of [0, -1, 1.5, Number.NaN]) {
        await expect(push(store, runId, events, fromSeq)).rejects.toMatchObject({ code: 'DATA_INVALID' })
      }
    })

    it('that are wrong spoil their whole batch, and the next one is welcome (STO-3)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const other = await recordRun(store)
      const [first, second, third] = eventsOf(runId, [
        { type: 'notice', text: 'a' },
        { type: 'notice', text: 'b' },
        { type: 'notice', text: 'c' },
      ])
      if (first === undefined || second === undefined || third === undefined) throw new Error('three events')
      const points = { type: 'points' as const, run_id: runId, key: ['x'], step: [0], value: [1], at_ms: [1] }
      const ended = { type: 'run.finished' as const, status: 'completed' as const, metrics: {} }
      const scored = {
        type: 'eval.finished' as const,
        benchmark: 'val',
        split: 'val' as const,
        metrics: {},
        n_tasks: 1,
        n_infra_failed: 0,
        scorer_hash: 's',
      }
      const wrong: [Item[], string][] = [
        [[first, third], 'STORE_CONFLICT'], // numbers of events have no gaps
        [[first, { ...second, run_id: other }], 'DATA_INVALID'],
        [[first, { ...points, run_id: other }], 'DATA_INVALID'],
        [[first, { ...points, value: [Number.NaN] }], 'DATA_INVALID'],
        [[first, { ...points, value: [Number.POSITIVE_INFINITY] }], 'DATA_INVALID'],
        [[first, { ...points, step: [-1] }], 'DATA_INVALID'],
        [[first, { ...points, step: [0.5] }], 'DATA_INVALID'],
        [[first, { ...points, step: [] }], 'DATA_INVALID'],
        [[first, { ...points, at_ms: [2 ** 60] }], 'DATA_INVALID'],
        [[first, { ...points, key: ['n'.repeat(3000)] }], 'DATA_INVALID'],
        [
          [{ type: 'step.finished', seq: 1, at: TIME, run_id: runId, step: 0, metrics: { loss: Number.NaN } }],
          'DATA_INVALID',
        ],
        [[{ type: 'notice', seq: 1, at: TIME, experiment_id: 'exp', text: 'x' }], 'DATA_INVALID'],
        // Stored as null, a score would damage its row, and a reward would be one that infrastructure failed to give.
        [eventsOf(runId, [{ ...ended, metrics: { loss: Number.NaN } }]), 'DATA_INVALID'],
        [eventsOf(runId, [{ ...scored, metrics: { 'pass@1': Number.POSITIVE_INFINITY } }]), 'DATA_INVALID'],
        [eventsOf(runId, [{ ...scored, rewards: { t1: [1, Number.NaN] } }]), 'DATA_INVALID'],
        [eventsOf(runId, [{ ...scored, bounds: { 'pass@1': [0, Number.NaN] } }]), 'DATA_INVALID'],
      ]
      for (const [items, code] of wrong) await expect(push(store, runId, items)).rejects.toMatchObject({ code })
      for (const stream of ['', 'run:', 'job:1', runId]) {
        await expect(store.push({ stream, fromSeq: 1, items: [first] })).rejects.toMatchObject({ code: 'DATA_INVALID' })
      }
      expect(await dumpRun(store, runId)).toMatchObject({ events: [], cursor: { nextItem: 1 } })
      expect(await push(store, runId, [first, second, third])).toMatchObject({ nextSeq: 4 })
    })

    it('of many senders at once arrive once, also as the first of their stream (STO-3)', async () => {
      const address = under.address()
      const stores = [await openForTest(address), await openForTest(address), await openForTest(address)]
      const [store] = stores
      if (store === undefined) throw new Error('a store')
      for (let round = 0; round < 5; round++) {
        const runId = await recordRun(store)
        const items = eventsOf(runId, [
          { type: 'run.started', config_hash: 'h', attempt: 1 },
          { type: 'step.finished', step: 0, metrics: { [`new ${round}`]: 1, [`also new ${round}`]: 2 } },
          { type: 'run.finished', status: 'completed', metrics: {} },
        ])
        await Promise.all([...stores, ...stores].map((each) => push(each, runId, items)))
        expect(await store.events({ stream: `run:${runId}`, afterSeq: 0, limit: 99 })).toEqual(items)
      }
    })
  })

  describe('events that are appended', () => {
    it('follow the one that was expected; the same again is no conflict, others are (STO-3)', async () => {
      const store = await openForTest(under.address())
      const { experimentId } = await recordSample(store)
      const stream = `experiment:${experimentId}`
      const notice = (seq: number, text: string) => ({
        type: 'notice' as const,
        seq,
        at: TIME,
        experiment_id: experimentId,
        text,
      })
      await store.append(stream, 1, [notice(2, 'a'), notice(3, 'b')])
      await store.append(stream, 1, [notice(2, 'a'), notice(3, 'b')])
      await store.append(stream, 3, [notice(4, 'c')])
      await store.append(stream, 1, [notice(2, 'a')])
      await store.append(stream, 4, [])
      for (const [expected, events] of [
        [1, [notice(2, 'other')]],
        [1, [notice(2, 'a'), notice(3, 'b'), notice(4, 'c'), notice(5, 'd')]],
        [9, [notice(10, 'far')]],
        [4, [notice(9, 'numbered wrongly')]],
      ] as const) {
        await expect(store.append(stream, expected, events)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      }
      const stored = await store.events({ stream, afterSeq: 1, limit: 99 })
      expect(stored).toEqual([notice(2, 'a'), notice(3, 'b'), notice(4, 'c')])
      expect(await store.cursor(stream)).toEqual({ nextItem: 5, nextEvent: 5 })
    })

    it('by two at once are those of one (STO-3)', async () => {
      const address = under.address()
      const stores = [await openForTest(address), await openForTest(address)]
      const { experimentId } = await recordSample(stores[0] as Store)
      const append = (store: Store, text: string) =>
        store.append(`experiment:${experimentId}`, 1, [
          { type: 'notice', seq: 2, at: TIME, experiment_id: experimentId, text },
        ])
      const ends = await Promise.allSettled(stores.map((store, i) => append(store, `writer ${i}`)))
      expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      const lost = ends.find((end) => end.status === 'rejected')
      expect(lost?.reason).toMatchObject({ code: 'STORE_CONFLICT' })
    })
  })

  describe('a writer that lost its lease', () => {
    it('cannot push or append (STO-9)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const [event] = eventsOf(runId, [{ type: 'notice', text: 'late' }])
      if (event === undefined) throw new Error('an event')
      const old = await store.leases.acquire('experiment:x', 'old', 1e6)
      if (old === undefined) throw new Error('a lease')
      await store.push({ stream: `run:${runId}`, fromSeq: 1, items: [] }, old)
      const next = await store.leases.takeOver(old, 'new', 1e6)
      const items = { stream: `run:${runId}`, fromSeq: 1, items: [event] }
      await expect(store.push(items, old)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      await expect(store.append(items.stream, 0, [event], old)).rejects.toMatchObject({ code: 'STORE_CONFLICT' })
      expect(await store.push(items, next)).toMatchObject({ nextSeq: 2 })
    })
  })
}

function push(store: Store, runId: string, items: readonly Item[], fromSeq = 1) {
  const own = items.map((item) => ('run_id' in item && item.run_id === 'r' ? { ...item, run_id: runId } : item))
  return store.push({ stream: `run:${runId}`, fromSeq, items: own })
}
