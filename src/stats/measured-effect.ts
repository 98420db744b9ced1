// An effect as it was measured, and what is left of it when its luck is taken back.

export interface MeasuredEffect {
  /** Positive is better. */
  readonly effect: number
  /** Variance of the measurement: sigma_d^2 / n. */
  readonly noise: number
}

export interface ShrunkEffect {
  readonly effect: number
  /** B: 1 keeps the raw value, 0 replaces it by the mean of all. */
  readonly factor: number
  readonly standardError: number
  /** Posterior chance that the true effect is zero or worse. */
  readonly probabilityNotBetter: number
}
