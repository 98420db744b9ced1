import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CurvePoint, PointBatch, Store } from '../../src/contracts/index.ts'
import { recordRun } from '../sample-plan.ts'
import { scaled } from '../scale.ts'
import { putPoints } from './put-points.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describePoints(under: StoreUnderTest): void {
  describe('metric points', () => {
    it('replace earlier ones of the same key and step, within a batch too (STO-5)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      await putPoints(
        store,
        batch(runId, 'loss', [
          [0, 3],
          [1, 2],
          [0, 1],
        ]),
      )
      await putPoints(store, batch(runId, 'loss', [[1, 5]]))
      expect(await store.curve({ runId, key: 'loss', maxPoints: 9 })).toEqual([
        { step: 0, min: 1, max: 1, mean: 1 },
        { step: 1, min: 5, max: 5, mean: 5 },
      ])
      await putPoints(store, batch(runId, 'loss', [[1, 0]]))
      expect(await store.curve({ runId, key: 'loss', maxPoints: 1 })).toEqual([{ step: 0, min: 0, max: 1, mean: 0.5 }])
    })

    it('of unknown runs and of no numbers are refused, and spoil no others (STO-5)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      await putPoints(store, batch(runId, 'loss', [[0, 1]]))
      await expect(putPoints(store, batch('run_9', 'loss', [[0, 1]]))).rejects.toMatchObject({ code: 'STORE_MISSING' })
      await expect(putPoints(store, batch(runId, 'loss', [[0, Number.NaN]]))).rejects.toMatchObject({
        code: 'DATA_INVALID',
      })
      await expect(putPoints(store, { ...batch(runId, 'loss', [[0, 1]]), at_ms: [] })).rejects.toMatchObject({
        code: 'DATA_INVALID',
      })
      expect(await store.curve({ runId, key: 'loss', maxPoints: 9 })).toHaveLength(1)
    })

    it('are refused by a record that is closed (STO-5)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      await store[Symbol.asyncDispose]()
      await expect(putPoints(store, batch(runId, 'loss', [[0, 1]]))).rejects.toMatchObject({ code: 'STORE_FAILED' })
    })

    it('have names of any text (STO-16)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const names = [
        'loss',
        'Loss',
        'lo ss',
        'a\0b',
        'a',
        '\ud800',
        '\udc00',
        '\ufffd',
        '\uffff',
        '\uffff0000',
        '😀',
        "'; drop table point; --",
      ]
      for (const [i, name] of names.entries()) await putPoints(store, batch(runId, name, [[0, i]]))
      expect(new Set(await store.metricKeys(runId))).toEqual(new Set(names))
      for (const [i, key] of names.entries()) {
        expect(await store.curve({ runId, key, maxPoints: 9 }), key).toEqual([{ step: 0, min: i, max: i, mean: i }])
      }
    })
  })

  describe('a curve', () => {
    it('has at most the buckets that were asked for, in order, and keeps every peak (STO-5)', async () => {
      const store = await openForTest(under.address())
      const steps = fc.oneof(fc.nat(90), fc.nat(4_000), fc.nat(3_000_000), fc.constant(Number.MAX_SAFE_INTEGER))
      const value = fc.oneof(
        fc.integer({ min: -5, max: 5 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((v) => v + 0),
      )
      const series = fc.array(fc.tuple(steps, value), { minLength: 1, maxLength: 120 })
      const width = fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 2_000 }))
      let n = 0
      await fc.assert(
        fc.asyncProperty(series, width, async (points, maxPoints) => {
          const runId = await recordRun(store)
          const key = `metric ${n++}`
          for (let i = 0; i < points.length; i += 50) {
            await putPoints(store, batch(runId, key, points.slice(i, i + 50)))
          }
          const curve = await store.curve({ runId, key, maxPoints })
          checkCurve(curve, new Map(points), maxPoints)
        }),
        { numRuns: scaled(30) },
      )
    })

    it('is as long as the metric where there is room (STO-5)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const points = Array.from({ length: 3_000 }, (_, i) => [i, Math.sin(i)] as const)
      await putPoints(store, batch(runId, 'wave', points))
      const curve = await store.curve({ runId, key: 'wave', maxPoints: 3_000 })
      expect(curve).toEqual(points.map(([step, value]) => ({ step, min: value, max: value, mean: value })))
      for (const maxPoints of [1, 2, 3, 10, 93, 94, 1000, 2999]) {
        checkCurve(await store.curve({ runId, key: 'wave', maxPoints }), new Map(points), maxPoints)
      }
    })

    it('of what is not there is empty (STO-5)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      expect(await store.curve({ runId, key: 'loss', maxPoints: 9 })).toEqual([])
      expect(await store.curve({ runId: 'run_9', key: 'loss', maxPoints: 9 })).toEqual([])
      expect(await store.metricKeys(runId)).toEqual([])
    })

    it('follows a run that goes back (STO-4, STO-5)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const model = new Map<number, number>()
      const train = async (from: number, to: number, value: number) => {
        const steps = Array.from({ length: to - from }, (_, i) => [from + i, value] as const)
        for (const [step, each] of steps) model.set(step, each)
        await putPoints(store, batch(runId, 'loss', steps))
      }
      await train(0, 2_100, 1)
      let seq = 1
      for (const back of [2_047, 1_500, 1_023, 33, 31, 0]) {
        const event = {
          type: 'guard.tripped' as const,
          at: '2026-01-01T00:00:00Z',
          run_id: runId,
          step: 9,
          reason: 'nan' as const,
        }
        const stream = `run:${runId}`
        const { nextItem } = await store.cursor(stream)
        await store.push({ stream, fromSeq: nextItem, items: [{ ...event, seq, rolled_back_to: back }] })
        seq += 1
        for (const step of model.keys()) if (step > back) model.delete(step)
        for (const maxPoints of [1, 40, 5_000])
          checkCurve(await store.curve({ runId, key: 'loss', maxPoints }), model, maxPoints)
        await train(back + 1, back + 200, seq)
        for (const maxPoints of [1, 40, 5_000])
          checkCurve(await store.curve({ runId, key: 'loss', maxPoints }), model, maxPoints)
      }
    })
  })
}

type Series = readonly (readonly [step: number, value: number])[]

function batch(runId: string, key: string, series: Series): PointBatch {
  return {
    type: 'points',
    run_id: runId,
    key: series.map(() => key),
    step: series.map(([step]) => step),
    value: series.map(([, value]) => value),
    at_ms: series.map(() => 1),
  }
}

/** Buckets are in order, none is empty, and each has exactly the extremes and the mean of its points. */
function checkCurve(
  curve: Awaited<ReturnType<Store['curve']>>,
  points: ReadonlyMap<number, number>,
  most: number,
): void {
  expect(curve.length).toBeLessThanOrEqual(most)
  const sorted = [...points].sort(([a], [b]) => a - b)
  let taken = 0
  for (const [i, bucket] of curve.entries()) {
    const end = curve[i + 1]?.step ?? Number.POSITIVE_INFINITY
    const inside: number[] = []
    for (; taken < sorted.length && (sorted[taken]?.[0] ?? 0) < end; taken++)
      inside.push(sorted[taken]?.[1] ?? Number.NaN)
    expect(bucket.step).toBe(sorted[taken - inside.length]?.[0])
    checkBucket(bucket, inside)
  }
  expect(taken).toBe(sorted.length)
}

function checkBucket({ min, max, mean }: CurvePoint, inside: readonly number[]): void {
  expect(min).toBe(Math.min(...inside))
  expect(max).toBe(Math.max(...inside))
  const exact = inside.reduce((sum, value) => sum + value / inside.length, 0)
  expect(mean).toBeGreaterThanOrEqual(min)
  expect(mean).toBeLessThanOrEqual(max)
  const largest = Math.max(Math.abs(min), Math.abs(max))
  if (largest < 1e290) expect(Math.abs(mean - exact)).toBeLessThanOrEqual(1e-9 * largest)
}
