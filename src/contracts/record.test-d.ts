import { describe, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { ExperimentEvent, RunEvent } from './events.ts'
import type { Ack, Ingest, Item, PointBatch, Steps } from './record.ts'

declare const steps: Steps
declare const ingest: Ingest
declare const batch: PointBatch
declare const event: RunEvent
declare const item: Item

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

describe('Ingest', () => {
  it('takes events and points in one stream, told apart by their type (CON-3)', () => {
    expectTypeOf(ingest.push({ stream: 's', fromSeq: 1, items: [event, batch] })).resolves.toEqualTypeOf<Ack>()
    if (item.type === 'points') expectTypeOf(item).toEqualTypeOf<PointBatch>()
    else expectTypeOf(item).toEqualTypeOf<RunEvent | ExperimentEvent>()
  })
})
