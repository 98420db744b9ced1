// The rule that turns a comparison into a word. `supported`: the lower end of the interval lies above the smallest effect that
// counts; `refuted`: the upper end lies below it; anything else is `inconclusive`, with what would decide it. One seed decides nothing.

import type { Interval } from './moments.ts'
import type { PairedComparison } from './paired-comparison.ts'

export type ClaimVerdict = 'supported' | 'refuted' | 'inconclusive'

/**
 * Why: the interval lies above or below; it holds the smallest effect (`undecided`); there is only one seed; every seed and task gave
 * the same difference, so nothing shows how far it can be trusted; scores that infrastructure lost hold the answer.
 */
export type VerdictReason = 'above' | 'below' | 'undecided' | 'one_seed' | 'no_variation' | 'lost_scores'

export interface Judgement {
  readonly verdict: ClaimVerdict
  readonly reason: VerdictReason
  /** The interval that decided, with its confidence. */
  readonly interval: Interval | null
  /** More seeds that would decide if the effect seen is the true one; null when decided, unknown, or seeds are no help. */
  readonly seedsStillNeeded: number | null
}

/** Verdict on one claim that was declared before its runs. For several treatments use `judgeArms`. */
export function verdictOf(comparison: PairedComparison): Judgement {
  return judge(comparison, comparison.interval)
}

/** Verdict by a given interval. */
export function judge(comparison: PairedComparison, interval: Interval | null): Judgement {
  const { minEffect, effect, unknown, seeds, seedsNeeded } = comparison
  const open = (reason: VerdictReason, seedsStillNeeded: number | null): Judgement => ({
    verdict: 'inconclusive',
    reason,
    interval,
    seedsStillNeeded,
  })
  const more = seedsNeeded === null ? null : Math.max(1, seedsNeeded - seeds.length)
  if (seeds.length < 2) return open('one_seed', more)
  if (interval === null) return open('no_variation', null)
  if (interval.lower > minEffect) return { verdict: 'supported', reason: 'above', interval, seedsStillNeeded: null }
  if (interval.upper < minEffect) return { verdict: 'refuted', reason: 'below', interval, seedsStillNeeded: null }
  if (unknown > 0 && Math.abs(effect - minEffect) <= unknown) return open('lost_scores', null)
  return open('undecided', more)
}
