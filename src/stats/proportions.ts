// Interval of a proportion by inverting the score test (Wilson 1927). Unlike p +- z s it is sensible at 0 of n and n of n.

import { inverseIncompleteBeta } from './incomplete-beta.ts'
import { type Interval, requireCount, requireFraction, tailOf } from './moments.ts'
import { normalQuantile } from './normal-distribution.ts'

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

// Exact interval of a proportion from the binomial itself (Clopper and Pearson 1934): never too narrow, so it is the one to use
// for a bound that is promised, such as a rate of false claims.
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

// Of n samples of a task, c are right. Unbiased estimates of: at least one of k right (Chen et al. 2021, "Evaluating large language
// models trained on code", eq. 1) and all of k right (Yao et al. 2024, tau-bench).
/** pass@k = 1 - C(n - c, k) / C(n, k): the chance that k of the n samples, drawn without replacement, hold a right one. */
export function passAtK(samples: number, correct: number, k: number): number {
  requireSamples(samples, correct, k)
  return 1 - drawnFrom(samples - correct, samples, k)
}

/** pass^k = C(c, k) / C(n, k): the chance that k of the n samples, drawn without replacement, are all right. */
export function passHatK(samples: number, correct: number, k: number): number {
  requireSamples(samples, correct, k)
  return drawnFrom(correct, samples, k)
}

// C(part, k) / C(whole, k) as a product, which never overflows.
function drawnFrom(part: number, whole: number, k: number): number {
  let chance = 1
  for (let i = 0; i < k && chance > 0; i++) chance *= Math.max(0, part - i) / (whole - i)
  return chance
}

function requireSamples(samples: number, correct: number, k: number): void {
  requireCount(samples, 1, 'samples')
  requireCount(correct, 0, 'correct')
  requireCount(k, 1, 'k')
  if (correct > samples) throw new RangeError(`${correct} correct in ${samples} samples`)
  if (k > samples) throw new RangeError(`pass@${k} needs ${k} samples of each task, not ${samples}`)
}
