import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { ExperimentEvent, RunEvent } from './events.ts'
import type { Ack, Blobs, Ingest, Item, PointBatch, Query, Result, Sha256, Steps, Store } from './record.ts'
import type { ExperimentResult, HistoryEntry } from './results.ts'

declare const store: Store
declare const steps: Steps
declare const ingest: Ingest
declare const blobs: Blobs
declare const batch: PointBatch
declare const event: RunEvent
declare const item: Item

describe('Store', () => {
  it('answers each query with the type that belongs to it', () => {
    expectTypeOf(store.read({ name: 'events', stream: 's', afterSeq: 0, limit: 10 })).resolves.toEqualTypeOf<
      (RunEvent | ExperimentEvent)[]
    >()
    expectTypeOf(store.read({ name: 'experiment', experimentId: 'e' })).resolves.toEqualTypeOf<
      ExperimentResult | undefined
    >()
    expectTypeOf(store.read({ name: 'history', limit: 5 })).resolves.toEqualTypeOf<HistoryEntry[]>()
    expectTypeOf(store.read({ name: 'points', runId: 'r', key: 'loss', maxPoints: 9 })).resolves.items.toEqualTypeOf<{
      step: number
      min: number
      max: number
      mean: number
    }>()
    expectTypeOf<Result<Extract<Query, { name: 'history' }>>>().toEqualTypeOf<HistoryEntry[]>()
  })

  it('takes the arguments of the query that is named, and no others', () => {
    // @ts-expect-error no query is called so
    void store.read({ name: 'everything' })
    // @ts-expect-error the stream is missing
    void store.read({ name: 'events', afterSeq: 0, limit: 10 })
    // @ts-expect-error the id of an experiment is text
    void store.read({ name: 'experiment', experimentId: 1 })
  })

  it('appends events of both streams, never points', () => {
    void store.append('s', 0, [event])
    void store.points(batch)
    // @ts-expect-error points are rows, not events
    void store.append('s', 0, [batch])
    expectTypeOf(store).toExtend<AsyncDisposable>()
  })
})

describe('Steps', () => {
  it('gives what the schema yields', () => {
    const schema = z.strictObject({ score: z.number(), tags: z.array(z.string()).default([]) })
    const done = steps.run('eval/val/7', schema, async (signal) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      return { score: 1, tags: ['a'] }
    })
    expectTypeOf(done).resolves.toEqualTypeOf<{ score: number; tags: string[] }>()
    // @ts-expect-error the work returns something else
    void steps.run('k', schema, async () => ({ score: 'high', tags: [] }))
  })
})

describe('Ingest and Blobs', () => {
  it('take events and points in one stream, told apart by their type (CON-3)', () => {
    expectTypeOf(ingest.push({ stream: 's', fromSeq: 1, items: [event, batch] })).resolves.toEqualTypeOf<Ack>()
    if (item.type === 'points') expectTypeOf(item).toEqualTypeOf<PointBatch>()
    else expectTypeOf(item).toEqualTypeOf<RunEvent | ExperimentEvent>()
  })

  it('take bytes at once or as they come', () => {
    async function* chunks() {
      yield new Uint8Array(1)
    }
    expectTypeOf(blobs.put(chunks())).resolves.toEqualTypeOf<Sha256>()
    expectTypeOf(blobs.put(new Uint8Array(1))).resolves.toEqualTypeOf<Sha256>()
    expectTypeOf(blobs.open('h')).toEqualTypeOf<AsyncIterable<Uint8Array>>()
    // @ts-expect-error text has no bytes until it is encoded
    void blobs.put('text')
  })
})
