// Interfaces of the record: store, durable steps, ingest, blobs. Implementations are in the store and kernel rooms.
import type * as z from 'zod'
import type { ExperimentEvent, RunEvent } from './events.ts'

export type Sha256 = string

/** A batch of metric points of one run, column-wise: equal lengths. */
export interface PointBatch {
  readonly runId: string
  readonly key: readonly string[]
  readonly step: readonly number[]
  readonly value: readonly number[]
  readonly atMs: readonly number[]
}

/** A read of the record: its name and arguments, tied to its answer's type by `Queries`. */
export interface Queries {
  events: { args: { stream: string; afterSeq: number; limit: number }; result: (RunEvent | ExperimentEvent)[] }
  points: {
    args: { runId: string; key: string; maxPoints: number }
    result: { step: number; min: number; max: number; mean: number }[]
  }
}
export type Query = { [N in keyof Queries]: { readonly name: N } & Queries[N]['args'] }[keyof Queries]
export type Result<Q extends Query> = Queries[Q['name']]['result']

export interface Store extends AsyncDisposable {
  /** Appends events that follow `expectedSeq`; a conflicting writer is an error, a repeated append is not. */
  append(stream: string, expectedSeq: number, events: readonly (RunEvent | ExperimentEvent)[]): Promise<void>
  points(batch: PointBatch): Promise<void>
  read<Q extends Query>(query: Q): Promise<Result<Q>>
}

/** Durable steps: the output of `work` is kept under `key`; after a crash it is not done again. */
export interface Steps {
  run<T>(key: string, schema: z.ZodType<T>, work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export type Item = RunEvent | ExperimentEvent | PointBatch

export interface Ack {
  readonly stream: string
  readonly nextSeq: number
}

/** Exactly-once arrival of numbered items: what was acknowledged before is skipped, a gap is refused. */
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
