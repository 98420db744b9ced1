// Where a row came from. The place travels with the row under a symbol: `{ ...row, more }` keeps it, JSON and
// Object.keys do not see it, so a transform that knows nothing of places still passes them on.
import type { Location, Row } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'

// Registered, so that rows keep their place through a plugin that brought its own copy of evsys.
const placeKey = Symbol.for('evsys.row.place')

/** The row with the place it stands at: `data/train.jsonl:812`, `rows[3]`. */
export function withPlace(row: Row, place: string): Row {
  return { ...row, [placeKey]: place }
}

/** The place of a row, if whoever made it kept it. */
export function placeOf(row: Row): string | undefined {
  const place: unknown = Reflect.get(row, placeKey)
  return typeof place === 'string' ? place : undefined
}

/** The place of a row as file and line, if it stands in a file of lines. */
export function locationOf(row: Row): Location | undefined {
  const [, file, line] = /^(.+):([1-9]\d{0,14})$/s.exec(placeOf(row) ?? '') ?? []
  return file === undefined ? undefined : { file, line: Number(line), col: 1 }
}

/** An error about one row: it names the row's place in words, and as a location where there is one. */
export function rowError(row: Row, message: string, fix: string): EvsysError {
  const where = locationOf(row)
  const place = placeOf(row)
  const text = place === undefined ? message : `${place}: ${message}`
  return new EvsysError('DATA_INVALID', text, { fix, ...(where === undefined ? {} : { where }) })
}
