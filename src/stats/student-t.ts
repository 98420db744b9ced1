// Student's t distribution, through the incomplete beta function (DLMF 8.17; Abramowitz and Stegun 26.7.1). The degrees of freedom
// need not be whole: Welch and Satterthwaite give fractions.

import { betaLogit, incompleteBeta } from './incomplete-beta.ts'
import { requirePositive } from './require-finite.ts'

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
