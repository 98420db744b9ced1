// Chosen fields of a row as a mapping of their own, for `metadata`.
import type { Row } from '../contracts/index.ts'
import { suggest } from '../kernel/index.ts'
import { fieldOf, isRow } from './row-field.ts'
import { rowError } from './row-place.ts'

/** The row's own metadata, if it has any, with the named fields added. `param` names the list in errors. */
export function pickFields(row: Row, fields: readonly string[], param: string): Row {
  const metadata: Row = isRow(row.metadata) ? { ...row.metadata } : {}
  for (const field of fields) {
    const value = fieldOf(row, field)
    if (value === undefined) {
      throw rowError(row, `${param} names "${field}", which the row does not have`, suggest(field, Object.keys(row)))
    }
    metadata[field] = value
  }
  return metadata
}
