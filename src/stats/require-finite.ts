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
