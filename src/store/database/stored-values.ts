// Rows are checked on the way out: what does not fit its schema is a damaged record, reported as such.

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type * as z from 'zod'
import { EvsysError, messageOf } from '../../kernel/index.ts'

/** JSON of a column, as its schema has it. */
export function parseStored<S extends z.ZodType>(schema: S, text: string, what: string): z.output<S> {
  return checkStored(schema, parseJson(text, what), what)
}

/** A value of a column, as its schema has it. */
export function checkStored<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const checked = schema.safeParse(value)
  if (checked.success) return checked.data
  throw damaged(what, checked.error.issues[0]?.message ?? 'it does not fit', checked.error)
}

export function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damaged(what, messageOf(cause), cause)
  }
}

function damaged(what: string, reason: string, cause: unknown): EvsysError {
  return new EvsysError('STORE_FAILED', `the record is damaged, in the ${what}: ${reason}`, {
    cause,
    fix: 'put a copy made by `evsys db backup` in its place; migrations leave copies beside it.',
  })
}

// Text that both databases give back as it was. PostgreSQL refuses NUL, SQLite drivers cut text at it, and both replace half a
// surrogate pair. Such units are written as U+FFFF, which no text has, and four hexadecimal digits; all other text is itself.
const MARK = '\uffff'
// With the flag u, `Cs` is a surrogate without its other half.
const UNSTORABLE = /[\0\uffff\p{Cs}]/u
const EACH_UNSTORABLE = new RegExp(UNSTORABLE, 'gu')

/** Text as a database can hold it. */
export function toStored(text: string): string {
  if (!UNSTORABLE.test(text)) return text
  return text.replace(EACH_UNSTORABLE, (unit) => `${MARK}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function fromStored(text: string): string {
  if (!text.includes(MARK)) return text
  return text.replace(/\uffff([0-9a-f]{4})/g, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
}

/** Rows of a query with their text as it was; changes them in place. */
export function rowsFromStored<R>(rows: R[]): R[] {
  for (const row of rows) {
    if (typeof row !== 'object' || row === null) continue
    for (const [column, value] of Object.entries(row)) {
      if (typeof value === 'string' && value.includes(MARK)) Reflect.set(row, column, fromStored(value))
    }
  }
  return rows
}

// Names that become keys. What one database takes and the other refuses must not decide whether a record can be moved.
/** An index of PostgreSQL takes keys of a third of a page, 2,704 bytes, and the longest key is made of three names. */
const LONGEST_NAME_BYTES = 800

/** The name itself, or an error: it is empty or longer than an index can hold. */
export function checkedName(what: string, name: string): string {
  const bytes = Buffer.byteLength(toStored(name))
  if (bytes > 0 && bytes <= LONGEST_NAME_BYTES) return name
  throw new EvsysError(
    'DATA_INVALID',
    bytes === 0 ? `a ${what} is empty` : `a ${what} has ${bytes} bytes: "${name.slice(0, 40)}..."`,
    { fix: `use 1 to ${LONGEST_NAME_BYTES} bytes.` },
  )
}

/** Whether a column begins with a text, taken literally: ids hold underscores, which LIKE takes for any character. */
export function hasPrefix(column: string, text: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`substr(${sql.ref(column)}, 1, ${sql.lit([...toStored(text)].length)}) = ${text}`
}

/** The values that are there: a column that holds nothing becomes a key that is absent. */
export function present<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> } // the nulls are gone
}
