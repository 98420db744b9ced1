// Several treatments against one baseline. Holm over the arms keeps the chance of even one false "supported" at the level of a single
// claim, and of one false "refuted" likewise.

import type { EffectError } from './crossed-anova.ts'
import { at, type Interval, tailOf } from './moments.ts'
import { ascending } from './multiple-comparisons.ts'
import { type PairedComparison, withinEffect } from './paired-comparison.ts'
import { tQuantile, tTail } from './student-t.ts'
import { type Judgement, judge } from './verdict.ts'

export interface ArmComparison {
  readonly arm: string
  readonly comparison: PairedComparison
}

export interface ArmJudgement extends Judgement {
  readonly arm: string
}

/**
 * Verdicts on all arms together, in the order given; `interval` is widened by Holm, its two ends each at their own step. All
 * comparisons must have one confidence.
 */
export function judgeArms(arms: readonly ArmComparison[]): ArmJudgement[] {
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
  return arms.map(({ arm, comparison }, i) => {
    const interval = intervalAt(comparison, at(lowerTails, i), at(upperTails, i))
    return { arm, ...judge(comparison, interval) }
  })
}

/** P-value of "the effect is no larger than minEffect" (side 1) or "no smaller" (side -1); 1 where nothing is known. */
export function oneSidedP(comparison: PairedComparison, side: 1 | -1): number {
  const { effect, unknown, minEffect, upperError } = comparison
  const error = side === -1 ? (upperError ?? comparison.error) : comparison.error
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
  const { effect, unknown, error, upperError, largest } = comparison
  if (error === null) return null
  const reach = (tail: number, { grain, df, standardError }: EffectError) =>
    unknown + grain + tQuantile(1 - tail, df) * standardError
  const ends = { lower: effect - reach(lowerTail, error), upper: effect + reach(upperTail, upperError ?? error) }
  return withinEffect({ ...ends, confidence: 1 - lowerTail - upperTail }, largest)
}
