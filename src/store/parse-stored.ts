// Rows are checked on the way out: what does not fit its schema is a damaged record, told as such.
import type * as z from 'zod'
import { EvsysError, messageOf } from '../kernel/index.ts'

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
