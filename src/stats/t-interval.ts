// Student's t intervals: one sample, paired, and two independent samples with unequal variances (Welch 1947).

import type { Interval } from './interval.ts'
import { moments } from './moments.ts'
import { requireFraction } from './require-finite.ts'
import { tMultiplier } from './student-t.ts'

export interface TInterval {
  readonly estimate: number
  /** Null when nothing is known about spread: one value, or one on either side of a Welch comparison. */
  readonly standardError: number | null
  readonly df: number | null
  readonly interval: Interval | null
}

/** Interval of the mean of one sample. */
export function tInterval(values: readonly number[], confidence: number): TInterval {
  const { n, mean, variance } = moments(values)
  return fromError(mean, variance === null ? null : Math.sqrt(variance / n), n - 1, confidence)
}

/** Interval of the mean difference `treatment - baseline`, item by item. */
export function pairedTInterval(
  treatment: readonly number[],
  baseline: readonly number[],
  confidence: number,
): TInterval {
  if (treatment.length !== baseline.length) {
    throw new RangeError(`pairs need equal lengths, not ${treatment.length} and ${baseline.length}`)
  }
  return tInterval(
    treatment.map((value, i) => value - (baseline[i] ?? Number.NaN)),
    confidence,
  )
}

/** Interval of the difference of means of two independent samples, with the degrees of freedom of Welch and Satterthwaite. */
export function welchTInterval(
  treatment: readonly number[],
  baseline: readonly number[],
  confidence: number,
): TInterval {
  const a = moments(treatment)
  const b = moments(baseline)
  const estimate = a.mean - b.mean
  if (a.variance === null || b.variance === null) return fromError(estimate, null, 0, confidence)
  const shareA = a.variance / a.n
  const shareB = b.variance / b.n
  const error = shareA + shareB
  // Two samples without any spread: the limit of the formula for equal shares.
  const df = error === 0 ? a.n + b.n - 2 : error ** 2 / (shareA ** 2 / (a.n - 1) + shareB ** 2 / (b.n - 1))
  return fromError(estimate, Math.sqrt(error), df, confidence)
}

function fromError(estimate: number, standardError: number | null, df: number, confidence: number): TInterval {
  requireFraction(confidence, 'confidence')
  if (standardError === null) return { estimate, standardError, df: null, interval: null }
  const reach = standardError === 0 ? 0 : tMultiplier(confidence, df) * standardError
  return { estimate, standardError, df, interval: { lower: estimate - reach, upper: estimate + reach, confidence } }
}
