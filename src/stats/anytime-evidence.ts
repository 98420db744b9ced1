// Evidence that may be looked at after every seed. E_n is the likelihood of the differences under "better by some effect" (effects
// in units of the noise, spread as a half-normal of scale tau) over their likelihood under "no effect":
//   E_n = 2 / sqrt(1 + n tau^2) exp(S^2 tau^2 / (2 (1 + n tau^2))) Phi(S tau / sqrt(1 + n tau^2)),  S = sum of d_i / sigma
// If the treatment is no better, E_n ever reaches 1 / alpha with probability at most alpha (Ville 1939; Robbins 1970).

import { stirlingError } from './incomplete-beta.ts'
import { requireFinite, requirePositive } from './moments.ts'
import { normalLogMills } from './normal-distribution.ts'

export interface AnytimeEvidence {
  /** ln E_n after the last difference. */
  readonly logEvidence: number
  /** E_n, held at the largest double. 20 or more: at most a 5 % chance of ever seeing this by luck. */
  readonly evidence: number
  /** One-sided p-value that holds at any time of looking: the inverse of the largest E so far, at most 1. */
  readonly p: number
}

export interface AnytimeEvidenceOptions {
  /** Paired differences, positive when the treatment is better, in the order they arrived. */
  readonly differences: readonly number[]
  /** Standard deviation of one difference. As it is estimated, the guarantee is approximate: say so beside the number. */
  readonly sigma: number
  /** Size of the effects looked for, in units of sigma. */
  readonly tau?: number | undefined
}

/** Evidence for "the treatment is better", given the noise. Without a noise estimate from elsewhere use `scaleFreeEvidence`. */
export function anytimeEvidence({ differences, sigma, tau = 1 }: AnytimeEvidenceOptions): AnytimeEvidence {
  requirePositive(sigma, 'sigma')
  requirePositive(tau, 'tau')
  requireFinite(differences, 'differences')
  let sum = 0
  const logs = differences.map((difference, i) => {
    sum += difference / sigma
    return halfNormalLogEvidence(sum, i + 1, tau)
  })
  return evidenceOf(logs)
}

/** ln E_n for the sum of n standardised differences. */
function halfNormalLogEvidence(sum: number, n: number, tau: number): number {
  const spread = 1 + n * tau * tau
  const z = (sum * tau) / Math.sqrt(spread)
  return Math.LN2 - Math.log(spread) / 2 + normalLogMills(z)
}

/** Sums up the course of ln E; before the first difference E is 1. */
function evidenceOf(logs: readonly number[]): AnytimeEvidence {
  const logEvidence = logs.at(-1) ?? 0
  const highest = logs.reduce((most, log) => Math.max(most, log), 0)
  return { logEvidence, evidence: Math.min(Math.exp(logEvidence), Number.MAX_VALUE), p: Math.exp(-highest) }
}

// Anytime evidence when the noise is unknown: the half-normal mixture of anytime-evidence.ts averaged over what the differences
// themselves say about sigma (right Haar prior 1 / sigma; Lai 1976, "On confidence sequences"; Grünwald, de Heide, Koolen 2024, "Safe
// testing"). With u = 1 / sigma and q = sum of d_i^2:
//   E_n = integral of u^(n-1) exp(-u^2 q / 2) E_n(S = u sum d_i) du / integral of u^(n-1) exp(-u^2 q / 2) du
// It depends on the differences' ratios alone, and few of them cannot say much: at most 8 after three, 22 after four.
/** Evidence for "the treatment is better" from paired differences alone, positive when it is, in the order they arrived. */
export function scaleFreeEvidence(differences: readonly number[]): AnytimeEvidence {
  requireFinite(differences, 'differences')
  let largest = 0
  let sum = 0
  let squares = 0
  const logs = differences.map((difference, i) => {
    // In units of the largest so far: squares of tiny differences would vanish, those of huge ones overflow.
    const unit = Math.max(largest, Math.abs(difference))
    if (unit === 0) return logEvidence(i + 1, 0)
    sum = sum * (largest / unit) + difference / unit
    squares = squares * (largest / unit) ** 2 + (difference / unit) ** 2
    largest = unit
    return logEvidence(i + 1, sum * Math.sqrt((i + 1) / squares))
  })
  return evidenceOf(logs)
}

// `sum` is of differences scaled to a mean square of 1, so that u = exp(v) has the density of sqrt(chi^2_n / n) and |sum| <= n. The
// integrand is analytic in v and falls fast on both sides, so the trapezoidal rule converges exponentially. It is below exp(-32) of its
// peak left of -(1 + 32 / n), and right of ln(1 + n) / 2 + 3, as there the exponent is at most -e^(2v) n / (2 (1 + n)).
function logEvidence(n: number, sum: number): number {
  const step = 1 / (8 * Math.max(1, Math.sqrt(n) / 3))
  const last = Math.ceil((Math.log1p(n) / 2 + 3) / step)
  const logs: number[] = []
  let highest = Number.NEGATIVE_INFINITY
  for (let k = -Math.ceil((1 + 32 / n) / step); k <= last; k++) {
    const v = k * step
    const log = halfNormalLogEvidence(Math.exp(v) * sum, n, 1) - (n / 2) * (Math.expm1(2 * v) - 2 * v)
    logs.push(log)
    highest = Math.max(highest, log)
  }
  const integral = highest + Math.log(step * logs.reduce((total, log) => total + Math.exp(log - highest), 0))
  return integral + Math.log(n / Math.PI) / 2 - stirlingError(n / 2) // the density of v, as in noncentral-t.ts
}
