// Interval of a proportion by inverting the score test (Wilson 1927). Unlike p +- z s it is sensible at 0 of n and n of n.

import { type Interval, tailOf } from './interval.ts'
import { normalQuantile } from './normal-distribution.ts'
import { requireCount, requireFraction } from './require-finite.ts'

/** Score interval for `successes` of `trials`. */
export function wilson(successes: number, trials: number, confidence: number): Interval {
  requireCount(trials, 1, 'trials')
  requireCount(successes, 0, 'successes')
  if (successes > trials) throw new RangeError(`${successes} successes in ${trials} trials`)
  requireFraction(confidence, 'confidence')
  const z = -normalQuantile(tailOf(confidence))
  const share = successes / trials
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * trials)) / trials)
  const middle = share + (z * z) / (2 * trials)
  const scale = 1 + (z * z) / trials
  return {
    // The ends are exactly 0 and 1 on paper; rounding must not push them past.
    lower: successes === 0 ? 0 : (middle - spread) / scale,
    upper: successes === trials ? 1 : (middle + spread) / scale,
    confidence,
  }
}
