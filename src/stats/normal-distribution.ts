// The standard normal distribution. The error function by its series of positive terms (DLMF 7.6.2) near zero, its complement by
// Laplace's continued fraction (DLMF 7.9.1) further out, scaled so that far tails keep their logarithm.

import { findRoot } from './find-root.ts'

const sqrtPi = 1.772453850905516
const sqrt2 = Math.SQRT2

/** P(Z <= z). */
export function normalCdf(z: number): number {
  return erfc(-z / sqrt2) / 2
}

/** ln P(Z <= z), finite down to z = -1e150 and beyond, where the probability itself is zero in doubles. */
export function normalLogCdf(z: number): number {
  if (z > 0) return Math.log1p(-normalCdf(-z))
  if (z > -2) return Math.log(normalCdf(z))
  return normalLogMills(z) - (z * z) / 2
}

/** ln P(Z <= z) + z^2 / 2, without taking the difference of two large numbers where z is far below zero (Mills' ratio). */
export function normalLogMills(z: number): number {
  if (z > -2) return normalLogCdf(z) + (z * z) / 2
  return Math.log(scaledErfc(-z / sqrt2) / 2)
}

/** The z with P(Z <= z) = p. */
export function normalQuantile(p: number): number {
  if (!(p >= 0 && p <= 1)) throw new RangeError(`a probability must lie in [0, 1], not ${p}`)
  if (p === 0) return Number.NEGATIVE_INFINITY
  if (p === 1) return Number.POSITIVE_INFINITY
  if (p > 0.5) return -lowerQuantile(1 - p)
  return lowerQuantile(p)
}

/** erfc(x) = 2 / sqrt(pi) times the integral of exp(-t^2) from x on. */
export function erfc(x: number): number {
  if (Number.isNaN(x)) throw new RangeError('erfc of NaN')
  if (x < -2) return 2 - erfc(-x)
  return x < 2 ? 1 - erfSeries(x) : Math.exp(-x * x) * scaledErfc(x)
}

function lowerQuantile(p: number): number {
  // Abramowitz and Stegun 26.2.23, off by less than 4.5e-4; Newton on the logarithm of the tail does the rest.
  const t = Math.sqrt(-2 * Math.log(p))
  const start =
    (2.515517 + 0.802853 * t + 0.010328 * t * t) / (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t ** 3) - t
  const target = Math.log(p)
  const evaluate = (z: number) => {
    const log = normalLogCdf(z)
    return { value: log - target, slope: Math.exp((-z * z) / 2 - log) / (sqrt2 * sqrtPi) }
  }
  return findRoot({ evaluate, lower: -40, upper: 0, start })
}

// erf(x) = 2 / sqrt(pi) exp(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!
function erfSeries(x: number): number {
  const double = 2 * x * x
  let term = x
  let sum = x
  for (let odd = 3; Math.abs(term) > Math.abs(sum) * 1e-17; odd += 2) {
    term *= double / odd
    sum += term
  }
  return (2 / sqrtPi) * Math.exp(-x * x) * sum
}

// exp(x^2) erfc(x) = 1 / sqrt(pi) / (x + (1/2) / (x + 1 / (x + (3/2) / (x + ...)))), evaluated from the far end; for x >= 1.4.
function scaledErfc(x: number): number {
  if (x > 1e8) return 1 / (x * sqrtPi)
  const terms = Math.ceil(20 + 400 / (x * x))
  let tail = x
  for (let n = terms; n >= 1; n--) tail = x + n / 2 / tail
  return 1 / (tail * sqrtPi)
}
