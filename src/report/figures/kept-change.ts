// One kept change with its evidence: what was measured, what is left when the lucky part is taken back, and who confirmed it.
import { type EffectPrior, normalQuantile, type ShrunkEffect, shrink } from '../../stats/index.ts'
import type { ReportedConfirmation, ResearchReportInput } from '../research-report-input.ts'
import { effectOf, type PlacedAttempt } from './placed-attempt.ts'

/** Coverage of the intervals of a report. */
const CONFIDENCE = 0.9

export interface KeptChange {
  readonly placed: PlacedAttempt
  /** As measured against the incumbent of its time. */
  readonly raw?: number
  readonly interval?: readonly [number, number]
  readonly seeds: number
  /** Absent where fewer than three gains are known: nothing says how large gains usually are. */
  readonly shrunk?: ShrunkEffect
  /** No larger than what a seed alone changes. */
  readonly withinNoise: boolean
  readonly confirmation?: ReportedConfirmation
}

export function keptChange(
  placed: PlacedAttempt,
  { prior, input }: { prior: EffectPrior | null; input: ResearchReportInput },
): KeptChange {
  const { gain, id, scores } = placed.attempt
  const confirmation = input.confirmations?.findLast(({ attempt }) => attempt === id)
  if (gain === undefined) {
    return { placed, seeds: scores.length, withinNoise: false, ...(confirmation === undefined ? {} : { confirmation }) }
  }
  const reach = (normalQuantile((1 + CONFIDENCE) / 2) * gain.sigma) / Math.sqrt(gain.n)
  return {
    placed,
    raw: gain.mean,
    seeds: gain.n,
    withinNoise: gain.mean < gain.sigma,
    ...(gain.sigma === 0 ? {} : { interval: [gain.mean - reach, gain.mean + reach] as const }),
    ...(prior === null ? {} : { shrunk: shrink(effectOf(gain), prior) }),
    ...(confirmation === undefined ? {} : { confirmation }),
  }
}
