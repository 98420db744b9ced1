// Reading a field of a raw row, for transforms that take field names as params.
import type { Row } from '../contracts/index.ts'

/**
 * The value of a field, or undefined where the row has none. A key is taken as it is written; failing that, `a.b.0` leads
 * into mappings and lists. Only what the row itself holds counts: `constructor` is no field.
 */
export function fieldOf(row: Row, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path]
  let value: unknown = row
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}

/** Whether a parsed JSON value is a mapping, the shape of every row. */
export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a value is, for an error: `a list`, `text`, `null`. */
export function typeWords(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'object':
      return 'a mapping'
    case 'undefined':
      return 'nothing'
    default:
      return `a ${typeof value}`
  }
}
