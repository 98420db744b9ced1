// What params of sources and transforms are made of.
import * as z from 'zod'

export const nonEmpty = z.string().min(1)
export const count = z.int().min(1)
export const share = z.number().min(0).max(1)
/** At least one field, by name. */
export function someFields<S extends z.ZodType>(value: S, error: string) {
  return z.record(nonEmpty, value).refine((fields) => Object.keys(fields).length > 0, { error })
}
