// The typed rows of a data block as a stream, with their places, and an account of what was read and what each transform left.
import type { PlacedRow, Row, RowFormat, RowOf } from '../../contracts/index.ts'
import { parseRows } from '../parse-rows.ts'
import { placeOf, withPlace } from '../row-place.ts'
import { runTransform } from '../row-stream.ts'
import type { RowPlan, RowRequest } from './row-plan.ts'
import { shortRow } from './short-row.ts'

/** Rows that a preview shows. */
const previewed = 3

export interface TypedRow<F extends RowFormat> {
  readonly row: RowOf[F]
  readonly place: string
}

/** Filled while rows are read. */
export interface RowAccount {
  /** Rows of the source, then those that each transform left. */
  readonly counts: number[]
  readonly before: PlacedRow[]
  readonly after: PlacedRow[]
}

export async function* typedRows<F extends RowFormat>(
  { source, sourceContext, steps }: RowPlan,
  { format, services }: Pick<RowRequest<F>, 'format' | 'services'>,
  account: RowAccount,
): AsyncGenerator<TypedRow<F>, void, undefined> {
  const { signal } = services
  let stream = placed(source.plugin.rows({ ...source.context, ...sourceContext }), account.before)
  stream = counted(stream, account.counts, 0)
  for (const [index, { equipped }] of steps.entries()) {
    const step = { transform: equipped.plugin, context: equipped.context }
    stream = counted(runTransform(step, stream), account.counts, index + 1)
  }
  let place = ''
  async function* watched(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
    let index = 0
    for await (const row of rows) {
      index++
      place = placeOf(row) ?? `row ${index}`
      yield row
    }
  }
  for await (const row of parseRows(watched(stream), format, { signal })) {
    if (account.after.length < previewed) account.after.push({ place, row: shortRow(row) })
    yield { row, place }
  }
}

async function* placed(
  source: AsyncIterable<{ row: Row; place: string }>,
  first: PlacedRow[],
): AsyncGenerator<Row, void, undefined> {
  for await (const { row, place } of source) {
    if (first.length < previewed) first.push({ place, row: shortRow(row) })
    yield withPlace(row, place)
  }
}

async function* counted(rows: AsyncIterable<Row>, counts: number[], at: number): AsyncGenerator<Row, void, undefined> {
  counts[at] = 0
  for await (const row of rows) {
    counts[at] = (counts[at] ?? 0) + 1
    yield row
  }
}
