// Mean and variance that keep their digits when the spread is tiny beside the mean (NIST StRD, NumAcc4): two passes, and the
// second pass also corrects the rounding of the first (Chan, Golub, LeVeque 1983, eq. 1.7).

export interface Moments {
  readonly n: number
  readonly mean: number
  /** Unbiased, divided by n - 1; null for one value, which says nothing about spread. */
  readonly variance: number | null
}

/** The plain mean: the sum first, which is the same in any order as far as its digits go. Of no value it is `none`: NaN, which is above and below nothing, unless the caller knows better. */
export function meanOf(values: readonly number[], none = Number.NaN): number {
  return values.length === 0 ? none : values.reduce((sum, value) => sum + value, 0) / values.length
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

// Reading arrays by index in numeric code, where a wrong index must be loud instead of a NaN that travels.
/** The element at `index`; out of range is a RangeError. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`index ${index} is outside a list of ${items.length}`)
  return item
}

// Guards at the door of the room. A NaN or an infinite score would pass through every formula and come out as a verdict.
/** Throws a RangeError unless every value is a finite number; `what` names the values in the message. */
export function requireFinite(values: readonly number[], what: string): void {
  const index = values.findIndex((value) => !Number.isFinite(value))
  if (index >= 0) throw new RangeError(`${what} must be finite numbers, but number ${index + 1} is ${values[index]}`)
}

/** Throws a RangeError unless `value` is a finite number above zero. */
export function requirePositive(value: number, what: string): void {
  if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new RangeError(`${what} must be above zero, not ${value}`)
}

/** Throws a RangeError unless `value` is a whole number of at least `least`. */
export function requireCount(value: number, least: number, what: string): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${what} must be a whole number of at least ${least}, not ${value}`)
  }
}

/** Throws a RangeError unless `value` lies strictly between 0 and 1. */
export function requireFraction(value: number, what: string): void {
  if (!(value > 0 && value < 1)) throw new RangeError(`${what} must lie between 0 and 1, not ${value}`)
}

// A two-sided interval. Each tail has (1 - confidence) / 2, so the lower bound of a 90 % interval is a one-sided 95 % bound.
export interface Interval {
  readonly lower: number
  readonly upper: number
  /** Coverage, for example 0.9. */
  readonly confidence: number
}

/** Probability left in each tail of an interval. */
export function tailOf(confidence: number): number {
  return (1 - confidence) / 2
}
