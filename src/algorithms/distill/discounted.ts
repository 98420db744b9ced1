/**
 * Adds to the value of every trained token those that come after it, each step further away counting `discount` times as much. Tokens
 * that are not trained on are passed over.
 */
export function discounted(values: Float64Array, mask: Uint8Array, discount: number): Float64Array {
  if (discount === 0) return values
  const sums = values.slice()
  let later = 0
  for (let t = values.length - 1; t >= 0; t--) {
    if (mask[t] !== 1) continue
    later = (values[t] ?? 0) + discount * later
    sums[t] = later
  }
  return sums
}
