// Exact interval of a proportion from the binomial itself (Clopper and Pearson 1934): never too narrow, so it is the one to use
// for a bound that is promised, such as a rate of false claims.

import { inverseIncompleteBeta } from './incomplete-beta.ts'
import { type Interval, tailOf } from './interval.ts'
import { requireCount, requireFraction } from './require-finite.ts'

/** Exact interval for `successes` of `trials`; each tail has (1 - confidence) / 2. */
export function clopperPearson(successes: number, trials: number, confidence: number): Interval {
  requireCount(trials, 1, 'trials')
  requireCount(successes, 0, 'successes')
  if (successes > trials) throw new RangeError(`${successes} successes in ${trials} trials`)
  requireFraction(confidence, 'confidence')
  const tail = tailOf(confidence)
  return {
    lower: successes === 0 ? 0 : inverseIncompleteBeta(successes, trials - successes + 1, tail),
    upper: successes === trials ? 1 : inverseIncompleteBeta(successes + 1, trials - successes, 1 - tail),
    confidence,
  }
}
