// What is sent to the record, and the interfaces of ingest, durable steps and blobs. The whole of it is `Store`.
import * as z from 'zod'
import { ExperimentEvent, RunEvent } from './events.ts'

/** Content hash, 64 hexadecimal digits in lower case. */
export const Sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 is 64 hexadecimal digits')
export type Sha256 = z.infer<typeof Sha256>

/**
 * Metric points of one run, column-wise: `key[i]` had `value[i]` after `step[i]`. A later point of the same key and step
 * replaces an earlier one, so that steps done again after a crash count once.
 */
export const PointBatch = z
  .strictObject({
    type: z.literal('points'),
    run_id: z.string().min(1),
    key: z.array(z.string().min(1)),
    step: z.array(z.int().min(0)),
    value: z.array(z.number()),
    at_ms: z.array(z.int().min(0)).describe('Milliseconds since 1970, UTC.'),
  })
  .refine(({ key, ...columns }) => [columns.step, columns.value, columns.at_ms].every((c) => c.length === key.length), {
    error: 'the columns key, step, value and at_ms have equal lengths',
  })
export type PointBatch = z.infer<typeof PointBatch>

/** What a worker sends to the record. */
export const Item = z.union([RunEvent, ExperimentEvent, PointBatch])
export type Item = z.infer<typeof Item>

/** Durable steps: the output of `work` is kept under `key`; after a crash it is not done again. */
export interface Steps {
  run<T>(key: string, schema: z.ZodType<T>, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** Everything before `nextSeq` is stored and may be forgotten by the sender. */
export interface Ack {
  readonly stream: string
  readonly nextSeq: number
}

/**
 * Exactly-once arrival of numbered items: what was acknowledged before is skipped, a gap is refused. `fromSeq` is the number
 * of the first item among all items that its sender put into the stream; the `seq` inside an event counts events alone.
 */
export interface Ingest {
  push(batch: { stream: string; fromSeq: number; items: readonly Item[] }): Promise<Ack>
}

/** Content-addressed bytes, kept while an owner pins them. */
export interface Blobs {
  put(bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<Sha256>
  open(hash: Sha256): AsyncIterable<Uint8Array>
  pin(hash: Sha256, owner: string): Promise<void>
  unpin(hash: Sha256, owner: string): Promise<void>
}
