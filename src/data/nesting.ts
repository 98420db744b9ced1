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
