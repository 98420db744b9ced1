// Newton's method kept inside a bracket: a step that leaves the bracket, or that barely shrinks the function, becomes a bisection.

export interface Root {
  /** An increasing function and its slope at x. */
  readonly evaluate: (x: number) => { readonly value: number; readonly slope: number }
  readonly lower: number
  readonly upper: number
  readonly start: number
}

/** Where an increasing function crosses zero between `lower` and `upper`; the nearer end if it does not cross. */
export function findRoot({ evaluate, lower, upper, start }: Root): number {
  let low = lower
  let high = upper
  let x = Math.min(Math.max(start, low), high)
  // 200 halvings exhaust the doubles between any two ends; Newton needs about six steps.
  for (let step = 0; step < 200; step++) {
    const { value, slope } = evaluate(x)
    if (value === 0) return x
    if (value < 0) low = x
    else high = x
    const newton = x - value / slope
    const next = newton > low && newton < high ? newton : (low + high) / 2
    if (Math.abs(next - x) <= 4 * Number.EPSILON * Math.max(Math.abs(next), 1)) return next
    x = next
  }
  return x
}
