// Anytime evidence when the noise is unknown: the half-normal mixture of anytime-evidence.ts averaged over what the differences
// themselves say about sigma (right Haar prior 1 / sigma; Lai 1976, "On confidence sequences"; Grünwald, de Heide, Koolen 2024, "Safe
// testing"). With u = 1 / sigma and q = sum of d_i^2:
//   E_n = integral of u^(n-1) exp(-u^2 q / 2) E_n(S = u sum d_i) du / integral of u^(n-1) exp(-u^2 q / 2) du
// It depends on the differences' ratios alone, and few of them cannot say much: at most 8 after three, 22 after four.

import { type AnytimeEvidence, evidenceOf, halfNormalLogEvidence } from './anytime-evidence.ts'
import { requireFinite, requirePositive } from './require-finite.ts'

/** Evidence for "the treatment is better" from paired differences alone, positive when it is, in the order they arrived. */
export function scaleFreeEvidence(differences: readonly number[], tau = 1): AnytimeEvidence {
  requireFinite(differences, 'differences')
  requirePositive(tau, 'tau')
  const largest = differences.reduce((most, d) => Math.max(most, Math.abs(d)), 0)
  let sum = 0
  let squares = 0
  const logs = differences.map((difference, i) => {
    const scaled = largest === 0 ? 0 : difference / largest // squares of tiny differences would vanish
    sum += scaled
    squares += scaled * scaled
    return logEvidence(i + 1, squares === 0 ? 0 : sum * Math.sqrt((i + 1) / squares), tau)
  })
  return evidenceOf(logs)
}

// `sum` is of differences scaled to a mean square of 1, so that u = exp(v) has the density of sqrt(chi^2_n / n). The integrand is
// analytic in v and falls fast on both sides: the trapezoidal rule converges exponentially.
function logEvidence(n: number, sum: number, tau: number): number {
  const step = 1 / (10 * Math.max(1, Math.sqrt(n) / 3))
  const first = Math.ceil(-(1 + 40 / n) / step)
  const logDensities: number[] = []
  const logProducts: number[] = []
  let highest = Number.NEGATIVE_INFINITY
  for (let k = first; ; k++) {
    const v = k * step
    const logDensity = (-n / 2) * (Math.expm1(2 * v) - 2 * v)
    const logProduct = logDensity + halfNormalLogEvidence(Math.exp(v) * sum, n, tau)
    logDensities.push(logDensity)
    logProducts.push(logProduct)
    highest = Math.max(highest, logProduct)
    if (v > 0 && logDensity < -40 && logProduct < highest - 40) break
  }
  return logSumExp(logProducts) - logSumExp(logDensities)
}

function logSumExp(logs: readonly number[]): number {
  const highest = logs.reduce((most, log) => Math.max(most, log), Number.NEGATIVE_INFINITY)
  return highest + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - highest), 0))
}
