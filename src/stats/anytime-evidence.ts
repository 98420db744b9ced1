// Evidence that may be looked at after every seed. E_n is the likelihood of the differences under "better by some effect" (effects
// in units of the noise, spread as a half-normal of scale tau) over their likelihood under "no effect":
//   E_n = 2 / sqrt(1 + n tau^2) exp(S^2 tau^2 / (2 (1 + n tau^2))) Phi(S tau / sqrt(1 + n tau^2)),  S = sum of d_i / sigma
// If the treatment is no better, E_n ever reaches 1 / alpha with probability at most alpha (Ville 1939; Robbins 1970).

import { normalLogMills } from './normal-distribution.ts'
import { requireFinite, requirePositive } from './require-finite.ts'

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
  readonly tau?: number
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
export function halfNormalLogEvidence(sum: number, n: number, tau: number): number {
  const spread = 1 + n * tau * tau
  const z = (sum * tau) / Math.sqrt(spread)
  return Math.LN2 - Math.log(spread) / 2 + normalLogMills(z)
}

/** Sums up the course of ln E; before the first difference E is 1. */
export function evidenceOf(logs: readonly number[]): AnytimeEvidence {
  const logEvidence = logs.at(-1) ?? 0
  const highest = logs.reduce((most, log) => Math.max(most, log), 0)
  return { logEvidence, evidence: Math.min(Math.exp(logEvidence), Number.MAX_VALUE), p: Math.exp(-highest) }
}
