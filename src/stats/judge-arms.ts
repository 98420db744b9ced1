// Several treatments against one baseline. Holm over the arms keeps the chance of even one false "supported" at the level of a single
// claim, and of one false "refuted" likewise. The best of many is partly lucky even so: it is a winner only once fresh seeds agree.

import { at, type Interval, tailOf } from './moments.ts'
import { ascending } from './multiple-comparisons.ts'
import type { PairedComparison } from './paired-comparison.ts'
import { tQuantile, tTail } from './student-t.ts'
import { type Judgement, judge, verdictOf } from './verdict.ts'

export interface ArmComparison {
  readonly arm: string
  readonly comparison: PairedComparison
}

export interface ArmJudgement extends Judgement {
  readonly arm: string
}

export interface Winner {
  readonly arm: string
  /** Arms it was chosen from. Its effect is then optimistic. */
  readonly chosenAmong: number
  /** False when it was chosen by looking: call it better only after `confirmWinner`. */
  readonly confirmed: boolean
}

export interface ArmsJudgement {
  /** In the order given; `interval` is widened by Holm, its two ends each at their own step. */
  readonly arms: readonly ArmJudgement[]
  /** The arm with the largest effect above the baseline; null when none is above. */
  readonly winner: Winner | null
}

/** Verdicts on all arms together. All comparisons must have one confidence. */
export function judgeArms(arms: readonly ArmComparison[]): ArmsJudgement {
  const confidence = arms[0]?.comparison.confidence ?? 0.9
  if (arms.some(({ comparison }) => comparison.confidence !== confidence)) {
    throw new RangeError('arms that are judged together need one confidence')
  }
  const tail = tailOf(confidence)
  const lowerTails = holmTails(
    arms.map(({ comparison }) => oneSidedP(comparison, 1)),
    tail,
  )
  const upperTails = holmTails(
    arms.map(({ comparison }) => oneSidedP(comparison, -1)),
    tail,
  )
  const judged = arms.map(({ arm, comparison }, i) => {
    const interval = intervalAt(comparison, at(lowerTails, i), at(upperTails, i))
    return { arm, ...judge(comparison, interval) }
  })
  return { arms: judged, winner: pickWinner(arms) }
}

export interface Confirmation {
  /** The comparison by which the winner was chosen. */
  readonly chosen: PairedComparison
  /** The same arms on seeds that had no part in the choice. */
  readonly fresh: PairedComparison
}

/** Verdict on a chosen winner from fresh seeds alone. */
export function confirmWinner({ chosen, fresh }: Confirmation): Judgement {
  const used = new Set(chosen.seeds)
  const stale = fresh.seeds.filter((seed) => used.has(seed))
  if (stale.length > 0)
    throw new RangeError(`seeds ${stale.join(', ')} had a part in choosing the winner: use fresh ones`)
  return verdictOf(fresh)
}

function pickWinner(arms: readonly ArmComparison[]): Winner | null {
  const [first, ...rest] = arms
  if (first === undefined) return null
  const best = rest.reduce((most, one) => (one.comparison.effect > most.comparison.effect ? one : most), first)
  if (!(best.comparison.effect > 0)) return null
  return { arm: best.arm, chosenAmong: arms.length, confirmed: arms.length === 1 }
}

/** P-value of "the effect is no larger than minEffect" (side 1) or "no smaller" (side -1); 1 where nothing is known. */
function oneSidedP({ effect, unknown, minEffect, error }: PairedComparison, side: 1 | -1): number {
  if (error === null) return 1
  return tTail((side * (effect - minEffect) - unknown - error.grain) / error.standardError, error.df)
}

// Holm's step-down as levels: the k-th smallest of m p-values is tested at tail / (m - k + 1), and from the first that fails on all
// keep its level. An arm's bound at that level excludes minEffect exactly when Holm rejects.
function holmTails(pValues: readonly number[], tail: number): number[] {
  const tails = new Array<number>(pValues.length)
  let steps = pValues.length
  let stopped = false
  for (const { p, index } of ascending(pValues)) {
    tails[index] = tail / steps
    stopped ||= p >= tail / steps
    if (!stopped) steps--
  }
  return tails
}

function intervalAt(comparison: PairedComparison, lowerTail: number, upperTail: number): Interval | null {
  const { effect, unknown, error } = comparison
  if (error === null) return null
  const reach = (tail: number) => unknown + error.grain + tQuantile(1 - tail, error.df) * error.standardError
  return { lower: effect - reach(lowerTail), upper: effect + reach(upperTail), confidence: 1 - lowerTail - upperTail }
}
