// Mean and variance that keep their digits when the spread is tiny beside the mean (NIST StRD, NumAcc4): two passes, and the
// second pass also corrects the rounding of the first (Chan, Golub, LeVeque 1983, eq. 1.7).

import { requireFinite } from './require-finite.ts'

export interface Moments {
  readonly n: number
  readonly mean: number
  /** Unbiased, divided by n - 1; null for one value, which says nothing about spread. */
  readonly variance: number | null
}

/** Sample size, mean and unbiased variance of at least one finite value. */
export function moments(values: readonly number[]): Moments {
  const n = values.length
  if (n === 0) throw new RangeError('a mean needs at least one value')
  requireFinite(values, 'values')
  const rough = values.reduce((sum, value) => sum + value / n, 0)
  let drift = 0
  let squares = 0
  for (const value of values) {
    drift += value - rough
    squares += (value - rough) ** 2
  }
  const mean = rough + drift / n
  // Values that are all equal have no spread: rounding in the mean must not invent some.
  if (values.every((value) => value === values[0])) return { n, mean: values[0] ?? mean, variance: n > 1 ? 0 : null }
  return { n, mean, variance: (squares - drift ** 2 / n) / (n - 1) }
}
