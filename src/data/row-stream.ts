// Source and transforms as one stream of raw rows. Nothing is read until it is asked for, and the reader's pace is everybody's.
import type { Context, Row, Transform } from '../contracts/index.ts'
import { EvsysError, messageOf } from '../kernel/index.ts'
import { isRow, typeWords } from './row-field.ts'
import { withPlace } from './row-place.ts'

/** A transform with the context it runs in, params included. */
export type TransformStep = { readonly transform: Transform; readonly context: Context<unknown> }

/** The rows of a source after all transforms, each with the place it came from where the transforms kept it. */
export function rowStream(
  source: AsyncIterable<{ row: Row; place: string }>,
  steps: readonly TransformStep[],
): AsyncIterable<Row> {
  return steps.reduce<AsyncIterable<Row>>((rows, step) => runTransform(step, rows), placed(source))
}

async function* placed(source: AsyncIterable<{ row: Row; place: string }>): AsyncGenerator<Row> {
  for await (const { row, place } of source) yield withPlace(row, place)
}

/** The rows after one transform. It throws ordinary errors; they leave here with its name on them, those of stages before have theirs. */
export async function* runTransform(
  { transform, context }: TransformStep,
  rows: AsyncIterable<Row>,
  onRow?: () => void,
): AsyncGenerator<Row, void, undefined> {
  const name = `transform "${transform.kind}"`
  try {
    for await (const row of transform.run(rows, context)) {
      if (!isRow(row)) throw new TypeError(`it yielded ${typeWords(row)} instead of a row`)
      onRow?.()
      yield row
    }
  } catch (cause) {
    if (context.signal.aborted || EvsysError.is(cause)) throw cause
    throw new EvsysError('PLUGIN_FAILED', `${name}: ${messageOf(cause)}`, { cause })
  }
}
