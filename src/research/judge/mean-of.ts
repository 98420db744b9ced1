// The plain mean. The sum first: it is the same in any order as far as its digits go, and so is what rests on it.

/** Mean of the values; NaN of none, which is above and below nothing. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
