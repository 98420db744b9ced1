import { isDeepStrictEqual } from 'node:util'

/** Whether two values of JSON are the same: keys in any order, and -0 is 0. */
export function equalJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) || isDeepStrictEqual(withPlainZeros(one), withPlainZeros(other))
}

function withPlainZeros(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value)) // -0 is written as 0
}
