// Student's t distribution, through the incomplete beta function (DLMF 8.17; Abramowitz and Stegun 26.7.1). The degrees of freedom
// need not be whole: Welch and Satterthwaite give fractions.
import { betaLogit, incompleteBeta, stirlingError } from './incomplete-beta.ts'
import { type Interval, moments, requireFinite, requireFraction, requirePositive } from './moments.ts'
import { normalCdf } from './normal-distribution.ts'

/** P(T <= t) with `df` degrees of freedom. */
export function tCdf(t: number, df: number): number {
  return t < 0 ? tTail(-t, df) : 1 - tTail(t, df)
}

/** P(T >= t), which keeps its digits where P(T <= t) is nearly one. */
export function tTail(t: number, df: number): number {
  requirePositive(df, 'degrees of freedom')
  if (Number.isNaN(t)) throw new RangeError('t is NaN')
  if (t < 0) return 1 - tTail(-t, df)
  const square = t * t
  if (square === Number.POSITIVE_INFINITY) return 0
  return incompleteBeta(df / 2, 0.5, df / (df + square), square / (df + square)) / 2
}

/** The t with P(T <= t) = p. */
export function tQuantile(p: number, df: number): number {
  requirePositive(df, 'degrees of freedom')
  if (!(p >= 0 && p <= 1)) throw new RangeError(`a probability must lie in [0, 1], not ${p}`)
  if (p === 0.5) return 0
  const tails = 2 * Math.min(p, 1 - p)
  // With x = df / (df + t^2): t^2 / df = (1 - x) / x = exp(-logit).
  const t = Math.sqrt(df) * Math.exp(-betaLogit(df / 2, 0.5, tails, Math.abs(2 * p - 1)) / 2)
  return p < 0.5 ? -t : t
}

/** How many standard errors an interval reaches to each side. */
export function tMultiplier(confidence: number, df: number): number {
  return tQuantile((1 + confidence) / 2, df)
}

// The noncentral t distribution: T = (Z + delta) / S with Z standard normal and S = sqrt(chi^2_df / df). It says how often a
// t test succeeds when the effect is real. P(T > t) = E[ normalCdf(delta - t S) ], integrated over u = ln S.
// exp(-36) is nothing beside a probability, and so is a normal tail beyond 36.
const negligible = 36

/** P(T > t) with `df` degrees of freedom and noncentrality `delta`; absolute error under 1e-11 where |delta| is below 10,000. */
export function noncentralTTail(t: number, df: number, delta: number): number {
  requirePositive(df, 'degrees of freedom')
  requireFinite([t, delta], 't and delta')
  const certain = certainTail(t, df, delta)
  if (certain !== undefined) return certain
  // The density of u is sqrt(df / pi) exp(-stirlingError(df / 2)) exp(-df/2 (e^(2u) - 1 - 2u)): analytic, and falling fast on both
  // sides, so the trapezoidal rule converges exponentially (Trefethen and Weideman 2014). The step follows the narrower of the
  // density (width 1 / sqrt(df)) and of the normal's edge (width 1 / delta); its floor bounds the work.
  const step = Math.max(1 / (10 * Math.max(1, Math.sqrt(df) / 3, Math.abs(delta) / 4)), 5e-5)
  let sum = 0
  for (const direction of [1, -1]) {
    for (let k = direction === 1 ? 0 : 1; ; k++) {
      const u = direction * k * step
      const exponent = (df / 2) * (Math.expm1(2 * u) - 2 * u)
      if (exponent > negligible) break
      sum += Math.exp(-exponent) * normalCdf(delta - t * Math.exp(u))
    }
  }
  return Math.sqrt(df / Math.PI) * Math.exp(-stirlingError(df / 2)) * step * sum
}

/** 0 or 1 where delta - t S lies beyond the normal's tails for every S that matters. */
function certainTail(t: number, df: number, delta: number): 0 | 1 | undefined {
  // df/2 (s^2 - 1 - 2 ln s) > negligible beyond this s, as s^2 - 1 - 2 ln s > (s - 1)^2.
  const largest = 1 + Math.sqrt((2 * negligible) / df)
  const [low, high] = t > 0 ? [delta - t * largest, delta] : [delta, delta - t * largest]
  if (low > negligible) return 1
  return high < -negligible ? 0 : undefined
}

// Student's t intervals: one sample, and two independent samples with unequal variances (Welch 1947).
export interface TInterval {
  readonly estimate: number
  /** Null when nothing is known about spread: one value, or one on either side of a Welch comparison. */
  readonly standardError: number | null
  readonly df: number | null
  readonly interval: Interval | null
}

/** Interval of the mean of one sample. */
export function tInterval(values: readonly number[], confidence: number): TInterval {
  const { n, mean, variance } = moments(values)
  return fromError(mean, variance === null ? null : Math.sqrt(variance / n), n - 1, confidence)
}

/** Interval of the difference of means of two independent samples, with the degrees of freedom of Welch and Satterthwaite. */
export function welchTInterval(
  treatment: readonly number[],
  baseline: readonly number[],
  confidence: number,
): TInterval {
  const a = moments(treatment)
  const b = moments(baseline)
  const estimate = a.mean - b.mean
  if (a.variance === null || b.variance === null) return fromError(estimate, null, 0, confidence)
  const shareA = a.variance / a.n
  const shareB = b.variance / b.n
  const error = shareA + shareB
  // Two samples without any spread: the limit of the formula for equal shares.
  const df = error === 0 ? a.n + b.n - 2 : error ** 2 / (shareA ** 2 / (a.n - 1) + shareB ** 2 / (b.n - 1))
  return fromError(estimate, Math.sqrt(error), df, confidence)
}

function fromError(estimate: number, standardError: number | null, df: number, confidence: number): TInterval {
  requireFraction(confidence, 'confidence')
  if (standardError === null) return { estimate, standardError, df: null, interval: null }
  const reach = standardError === 0 ? 0 : tMultiplier(confidence, df) * standardError
  return { estimate, standardError, df, interval: { lower: estimate - reach, upper: estimate + reach, confidence } }
}
