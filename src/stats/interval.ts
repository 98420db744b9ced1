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
