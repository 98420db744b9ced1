// Anytime evidence when the noise is unknown: the half-normal mixture of anytime-evidence.ts averaged over what the differences
// themselves say about sigma (right Haar prior 1 / sigma; Lai 1976, "On confidence sequences"; Grünwald, de Heide, Koolen 2024, "Safe
// testing"). With u = 1 / sigma and q = sum of d_i^2:
//   E_n = integral of u^(n-1) exp(-u^2 q / 2) E_n(S = u sum d_i) du / integral of u^(n-1) exp(-u^2 q / 2) du
// It depends on the differences' ratios alone, and few of them cannot say much: at most 8 after three, 22 after four.

import { type AnytimeEvidence, evidenceOf, halfNormalLogEvidence } from './anytime-evidence.ts'
import { stirlingError } from './log-gamma.ts'
import { requireFinite } from './require-finite.ts'

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
