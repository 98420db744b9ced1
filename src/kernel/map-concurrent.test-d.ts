import { expectTypeOf } from 'vitest'
import { mapConcurrent } from './map-concurrent.ts'

declare const signal: AbortSignal
declare const rows: AsyncIterable<{ query: string }>

// Items and results are inferred, from lists and async sources, from plain values and promises.
expectTypeOf(mapConcurrent([1, 2], { limit: 1, signal }, (item) => item.toFixed())).resolves.toEqualTypeOf<string[]>()
expectTypeOf(mapConcurrent(rows, { limit: 1, signal }, async (row) => row.query.length)).resolves.toEqualTypeOf<
  number[]
>()

// @ts-expect-error a signal is not optional: everything that waits can be stopped
void mapConcurrent([1], { limit: 1 }, async (item) => item)
