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
  const { counts } = account
  const count = (at: number) => {
    counts[at] = 0
    return () => {
      counts[at] = (counts[at] ?? 0) + 1
    }
  }
  let stream = placed(source.plugin.rows({ ...source.context, ...sourceContext }), account.before, count(0))
  for (const [index, { equipped }] of steps.entries()) {
    const step = { transform: equipped.plugin, context: equipped.context }
    stream = runTransform(step, stream, count(index + 1))
  }
  let place: string | undefined
  const onRow = (row: Row) => {
    place = placeOf(row)
  }
  let index = 0
  for await (const row of parseRows(stream, format, { signal, onRow })) {
    index++
    const at = place ?? `row ${index}`
    if (account.after.length < previewed) account.after.push({ place: at, row: shortRow(row) })
    yield { row, place: at }
  }
}

async function* placed(
  source: AsyncIterable<{ row: Row; place: string }>,
  first: PlacedRow[],
  onRow: () => void,
): AsyncGenerator<Row, void, undefined> {
  for await (const { row, place } of source) {
    onRow()
    if (first.length < previewed) first.push({ place, row: shortRow(row) })
    yield withPlace(row, place)
  }
}
