// The regularised incomplete beta function I_x(a, b) and its inverse; Student's t, F and binomial bounds are made of it.
// Continued fraction DLMF 8.17.22 by the modified Lentz method, on the side of the mean where it converges fast.
import { findRoot } from './find-root.ts'
import { requirePositive } from './moments.ts'

/** I_x(a, b). Where 1 - x would lose digits, pass `y` = 1 - x as it is known. */
export function incompleteBeta(a: number, b: number, x: number, y = 1 - x): number {
  requirePositive(a, 'a')
  requirePositive(b, 'b')
  if (!(x >= 0 && x <= 1)) throw new RangeError(`x must lie in [0, 1], not ${x}`)
  if (x === 0) return 0
  if (y === 0) return 1
  return x < (a + 1) / (a + b + 2) ? lowerTail(a, b, x, y) : 1 - lowerTail(b, a, y, x)
}

/** The x with I_x(a, b) = p. */
export function inverseIncompleteBeta(a: number, b: number, p: number): number {
  if (p === 0 || p === 1) return p
  return 1 / (1 + Math.exp(-betaLogit(a, b, p)))
}

/**
 * ln(x / (1 - x)) where I_x(a, b) = p. The logit keeps all digits of x near 0 and of 1 - x near 1, which quantiles of t and F need.
 * Where 1 - p would lose digits, pass `q` = 1 - p as it is known.
 */
export function betaLogit(a: number, b: number, p: number, q = 1 - p): number {
  requirePositive(a, 'a')
  requirePositive(b, 'b')
  if (!(p >= 0 && q >= 0 && p + q > 0)) throw new RangeError(`a probability must lie in [0, 1], not ${p}`)
  if (p === 0) return Number.NEGATIVE_INFINITY
  if (q === 0) return Number.POSITIVE_INFINITY
  // Logarithms of the smaller tail: nearly straight lines in the logit, so Newton's method is at home far out.
  const useLower = p <= q
  const evaluate = (logit: number) => {
    const x = 1 / (1 + Math.exp(-logit))
    const y = 1 / (1 + Math.exp(logit))
    const tail = useLower ? tailAt(a, b, x, y) : tailAt(b, a, y, x)
    const slope = betaPower(a, b, x, y) / tail
    return useLower ? { value: Math.log(tail) - Math.log(p), slope } : { value: Math.log(q) - Math.log(tail), slope }
  }
  return findRoot({ evaluate, lower: -700, upper: 700, start: Math.log(a / b) })
}

function tailAt(a: number, b: number, x: number, y: number): number {
  // Below the smallest double the tail is zero and its logarithm infinite; the floor keeps the search moving.
  return Math.max(incompleteBeta(a, b, x, y), Number.MIN_VALUE)
}

function lowerTail(a: number, b: number, x: number, y: number): number {
  return (betaPower(a, b, x, y) * continuedFraction(a, b, x)) / a
}

// x^a y^b / B(a, b) as a binomial probability in saddle-point form (Loader 2000): no difference of large logarithms is taken.
function betaPower(a: number, b: number, x: number, y: number): number {
  const n = a + b
  const log = stirlingError(n) - stirlingError(a) - stirlingError(b) - devianceTerm(a, n * x) - devianceTerm(b, n * y)
  return Math.sqrt((a * b) / (2 * Math.PI * n)) * Math.exp(log)
}

// v ln(v / m) + m - v, by its series where v is near m.
function devianceTerm(v: number, m: number): number {
  const ratio = (v - m) / (v + m)
  if (Math.abs(ratio) >= 0.1) return v * Math.log(v / m) + m - v
  let sum = (v - m) * ratio
  let power = 2 * v * ratio
  for (let odd = 3; ; odd += 2) {
    power *= ratio * ratio
    const next = sum + power / odd
    if (next === sum) return sum
    sum = next
  }
}

function continuedFraction(a: number, b: number, x: number): number {
  const tiny = 1e-300
  let c = 1
  let d = nonZero(1 - ((a + b) * x) / (a + 1))
  d = 1 / d
  let fraction = d
  // Converges in O(sqrt(max(a, b))) steps.
  for (let m = 1; m <= 100_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / nonZero(1 + even * d)
    c = nonZero(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / nonZero(1 + odd * d)
    c = nonZero(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < Number.EPSILON) return fraction
  }
  throw new RangeError(`the incomplete beta function did not converge at a = ${a}, b = ${b}, x = ${x}`)

  function nonZero(value: number): number {
    return Math.abs(value) < tiny ? tiny : value
  }
}

// The logarithm of the gamma function on positive numbers, by Stirling's series (DLMF 5.11.1) and, below 10, the recurrence
// gamma(x + 1) = x gamma(x). Absolute error under 1e-14 up to x = 10, relative error under 1e-15 above.
const halfLog2Pi = 0.9189385332046728

/** ln gamma(x) for x > 0. */
export function logGamma(x: number): number {
  requirePositive(x, 'the argument of logGamma')
  let product = 1
  let shifted = x
  for (; shifted < 10; shifted++) product *= shifted
  return (shifted - 0.5) * Math.log(shifted) - shifted + halfLog2Pi + stirlingSeries(shifted) - Math.log(product)
}

/**
 * What Stirling's formula leaves over: ln gamma(x) - [(x - 1/2) ln x - x + ln(2 pi) / 2]. Ratios of gamma functions taken through
 * it keep the digits that differences of logGamma lose (Loader 2000, "Fast and accurate computation of binomial probabilities").
 */
export function stirlingError(x: number): number {
  return x >= 10 ? stirlingSeries(x) : logGamma(x) - ((x - 0.5) * Math.log(x) - x + halfLog2Pi)
}

// B_2k / (2k (2k - 1) x^(2k - 1)); the first term left out is below 2e-18 at x = 10.
const coefficients = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400]

function stirlingSeries(x: number): number {
  const inverseSquare = 1 / (x * x)
  return coefficients.reduceRight((sum, coefficient) => sum * inverseSquare + coefficient, 0) / x
}
