/** The values that are there: a column that holds nothing becomes a key that is absent. */
export function present<T extends Record<string, unknown>>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> } // the nulls are gone
}
