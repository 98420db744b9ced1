import { describe, expectTypeOf, it } from 'vitest'
import type { ExperimentEvent, RunEvent } from './events.ts'
import type { Ack, Item, Lease, PointBatch } from './record.ts'
import type { CurvePoint, EvalRow, ExperimentRow, RunRow, Store } from './store.ts'

declare const store: Store
declare const batch: PointBatch
declare const event: RunEvent
declare const lease: Lease
declare const item: Item

describe('Store', () => {
  it('takes events and points in one stream, told apart by their type, and is closed by its opener (CON-3)', () => {
    expectTypeOf(store).toExtend<AsyncDisposable>()
    const pushed = store.push({ stream: 'run:r', fromSeq: 1, items: [event, batch] }, lease)
    expectTypeOf(pushed).resolves.toEqualTypeOf<Ack>()
    if (item.type === 'points') expectTypeOf(item).toEqualTypeOf<PointBatch>()
    else expectTypeOf(item).toEqualTypeOf<RunEvent | ExperimentEvent>()
  })

  it('appends events of both streams, never points', () => {
    void store.append('run:r', 0, [event])
    // @ts-expect-error points are rows, not events
    void store.append('run:r', 0, [batch])
  })

  it('answers in rows', () => {
    expectTypeOf(store.events({ stream: 's', afterSeq: 0, limit: 9 })).resolves.toEqualTypeOf<
      (RunEvent | ExperimentEvent)[]
    >()
    expectTypeOf(store.experiment('e')).resolves.toEqualTypeOf<ExperimentRow | undefined>()
    expectTypeOf(store.findRun('r')).resolves.toEqualTypeOf<RunRow>()
    expectTypeOf(store.evals('r')).resolves.toEqualTypeOf<EvalRow[]>()
    expectTypeOf(store.curve({ runId: 'r', key: 'loss', maxPoints: 9 })).resolves.toEqualTypeOf<CurvePoint[]>()
  })

  it('takes the queries that there are', () => {
    // @ts-expect-error the stream is missing
    void store.events({ afterSeq: 0, limit: 10 })
    // @ts-expect-error no event has this type
    void store.events({ stream: 's', afterSeq: 0, limit: 10, types: ['run.paused'] })
    // @ts-expect-error no status is called so
    void store.experiments({ limit: 1, statuses: ['paused'] })
  })
})
