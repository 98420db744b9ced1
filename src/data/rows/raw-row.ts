// Reading a field of a raw row, for transforms that take field names as params.
import type { Location, Row } from '../../contracts/index.ts'
import { EvsysError, suggest } from '../../kernel/index.ts'

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
  const words: Readonly<Record<string, string>> = { string: 'text', object: 'a mapping', undefined: 'nothing' }
  return words[typeof value] ?? `a ${typeof value}`
}

// Where a row came from. The place travels with the row under a symbol: `{ ...row, more }` keeps it, JSON and
// Object.keys do not see it, so a transform that knows nothing of places still passes them on.
// Registered, so that rows keep their place through a plugin that brought its own copy of evsys.
const placeKey = Symbol.for('evsys.row.place')

/** The row with the place it stands at: `data/train.jsonl:812`, `rows[3]`. */
export function withPlace(row: Row, place: string): Row {
  return { ...row, [placeKey]: place }
}

/** The place of a row, where the transforms kept it. */
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
  const place = placeOf(row)
  const text = place === undefined ? message : `${place}: ${message}`
  return new EvsysError('DATA_INVALID', text, { fix, where: locationOf(row) })
}

/** The messages of a chat row, or an error that says what to put before `transform`. */
export function messagesOf(row: Row, transform: string): unknown[] {
  const { messages } = row
  if (Array.isArray(messages)) return messages
  const what =
    messages === undefined
      ? `the row has no messages (it has ${Object.keys(row).join(', ')})`
      : `messages is ${typeWords(messages)}, not a list`
  throw rowError(row, `${transform}: ${what}`, 'put a transform that makes messages before it, such as jsonl_to_chat.')
}

/** The value of a field that a row must have; `what` begins the error. */
export function requiredField(row: Row, field: string, what: string): unknown {
  const value = fieldOf(row, field)
  if (value !== undefined) return value
  throw rowError(row, what, suggest(field, Object.keys(row)))
}

// Depth of parsed JSON. Much of what happens to a row later (schemas, hashing, JSON.stringify) recurses, and a line of a
// hundred thousand brackets must not get that far.
/** More levels than any real row has, far fewer than a stack holds. */
export const deepestRow = 100

/** Whether lists and mappings in `value` are nested more than `limit` levels deep. */
export function nestedDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  // for...in over own JSON keys: Object.values would allocate a list for every message of every row.
  for (const key in value) if (nestedDeeperThan(Reflect.get(value, key), limit - 1)) return true
  return false
}
