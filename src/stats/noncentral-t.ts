// The noncentral t distribution: T = (Z + delta) / S with Z standard normal and S = sqrt(chi^2_df / df). It says how often a
// t test succeeds when the effect is real. P(T > t) = E[ normalCdf(delta - t S) ], integrated over u = ln S.

import { stirlingError } from './log-gamma.ts'
import { normalCdf } from './normal-distribution.ts'
import { requireFinite, requirePositive } from './require-finite.ts'

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
