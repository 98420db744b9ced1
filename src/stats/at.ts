// Reading arrays by index in numeric code, where a wrong index must be loud instead of a NaN that travels.

/** The element at `index`; out of range is a RangeError. */
export function at<T>(items: readonly T[], index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`index ${index} is outside a list of ${items.length}`)
  return item
}
