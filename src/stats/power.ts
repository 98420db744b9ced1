// What a plan can find out. A claim is supported when the lower end of a t interval over n paired differences lies above the
// smallest effect that counts; the chance of that, for a real effect, is a tail of the noncentral t distribution with
// delta = (effect - minEffect) sqrt(n) / sd.

import { findRoot } from './find-root.ts'
import { requireCount, requireFinite, requireFraction, requirePositive } from './moments.ts'
import { normalQuantile } from './normal-distribution.ts'
import { noncentralTTail, tMultiplier } from './student-t.ts'

/** The chance of success that plans aim for by default. */
export const usualPower = 0.8

export interface PowerOptions {
  /** Paired differences: seeds that both arms run. */
  readonly pairs: number
  /** True effect beyond the smallest one that counts. */
  readonly gap: number
  /** Standard deviation of one paired difference. */
  readonly sd: number
  /** Coverage of the interval that decides. */
  readonly confidence: number
}

/** Chance that the claim comes out as supported. One pair can support nothing. */
export function power({ pairs, gap, sd, confidence }: PowerOptions): number {
  requireCount(pairs, 1, 'pairs')
  requireFinite([gap], 'gap')
  requirePositive(sd, 'sd')
  requireFraction(confidence, 'confidence')
  if (pairs === 1) return 0
  return noncentralTTail(tMultiplier(confidence, pairs - 1), pairs - 1, (gap * Math.sqrt(pairs)) / sd)
}

export interface DetectableOptions extends Omit<PowerOptions, 'gap'> {
  readonly power?: number | undefined
}

/** The smallest effect beyond minEffect that n pairs support with the given power; null for one pair, which supports nothing. */
export function smallestDetectableEffect(options: DetectableOptions): number | null {
  const { pairs, sd, confidence, power: wanted = usualPower } = options
  requireFraction(wanted, 'power')
  requirePositive(sd, 'sd')
  if (power({ pairs, gap: 0, sd, confidence }) === 0) return null
  const unit = sd / Math.sqrt(pairs)
  const multiplier = tMultiplier(confidence, pairs - 1)
  const evaluate = (delta: number) => {
    const at = (x: number) => noncentralTTail(multiplier, pairs - 1, x)
    const reach = 1e-4 * Math.max(1, Math.abs(delta))
    const value = at(delta)
    return { value: value - wanted, slope: (at(delta + reach) - value) / reach }
  }
  // P(Z + delta > c S) has S below 5 almost surely, so the root is within a few multiples of c.
  const upper = 10 * multiplier + 10
  return unit * findRoot({ evaluate, lower: -upper, upper, start: multiplier + normalQuantile(wanted) })
}

export interface PairsNeededOptions extends Omit<PowerOptions, 'pairs'> {
  readonly power?: number | undefined
  /** Search no further. */
  readonly most?: number | undefined
}

/** How many pairs a true effect of this size needs; null when more than `most`, or when there is no gap to find. */
export function pairsNeeded(options: PairsNeededOptions): number | null {
  const { gap, sd, confidence, power: wanted = usualPower, most = 1000 } = options
  requireFraction(wanted, 'power')
  requireFraction(confidence, 'confidence')
  requireFinite([gap], 'gap')
  if (!(sd >= 0)) throw new RangeError(`sd must be zero or more, not ${sd}`)
  if (gap <= 0) return null
  if (sd === 0) return 2
  const z = normalQuantile((1 + confidence) / 2)
  // Normal theory with the usual correction for an estimated variance (Guenther 1981); right to a pair or two.
  const guess = ((z + normalQuantile(wanted)) * (sd / gap)) ** 2 + (z * z) / 2
  if (guess > most + 2) return null
  const reaches = (pairs: number) => power({ pairs, gap, sd, confidence }) >= wanted
  let pairs = Math.max(2, Math.round(guess))
  while (pairs > 2 && reaches(pairs - 1)) pairs--
  while (pairs <= most && !reaches(pairs)) pairs++
  return pairs <= most ? pairs : null
}

/**
 * Before any run: the largest noise that `tasks` right-or-wrong tasks can put on a paired difference at a given success rate, with no
 * help from pairing and no noise of training: sqrt(2 rate (1 - rate) / (tasks samples)).
 */
export function bernoulliDifferenceSd(options: {
  tasks: number
  samples?: number | undefined
  rate?: number | undefined
}): number {
  const { tasks, samples = 1, rate = 0.5 } = options
  requireCount(tasks, 1, 'tasks')
  requireCount(samples, 1, 'samples')
  requireFraction(rate, 'rate')
  return Math.sqrt((2 * rate * (1 - rate)) / (tasks * samples))
}
