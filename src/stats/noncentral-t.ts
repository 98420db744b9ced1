// The noncentral t distribution: T = (Z + delta) / S with Z standard normal and S = sqrt(chi^2_df / df). It says how often a
// t test succeeds when the effect is real. P(T > t) = E[ normalCdf(delta - t S) ], integrated over u = ln S.

import { stirlingError } from './log-gamma.ts'
import { normalCdf } from './normal-distribution.ts'
import { requireFinite, requirePositive } from './require-finite.ts'

/** P(T > t) with `df` degrees of freedom and noncentrality `delta`; absolute error under 1e-11. */
export function noncentralTTail(t: number, df: number, delta: number): number {
  requirePositive(df, 'degrees of freedom')
  requireFinite([t, delta], 't and delta')
  // The density of u is sqrt(df / pi) exp(-stirlingError(df / 2)) exp(-df/2 (e^(2u) - 1 - 2u)): analytic, and falling fast on both
  // sides, so the trapezoidal rule converges exponentially (Trefethen and Weideman 2014). The step follows the narrower of the
  // density (width 1 / sqrt(df)) and of the normal's edge (width 1 / delta).
  const step = 1 / (10 * Math.max(1, Math.sqrt(df) / 3, Math.abs(delta) / 4))
  const negligible = 40
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
