// An attempt where it stands in its session. Gains are improvements, positive whatever the direction.
import type { Attempt, Direction } from '../../contracts/index.ts'
import type { ReportedAttempt } from '../input/report-input.ts'

/** What became of an attempt, also where no verdict says so. */
export type Outcome = 'baseline' | Exclude<Attempt['verdict'], undefined> | 'running'

export interface PlacedAttempt {
  readonly reported: ReportedAttempt
  readonly attempt: Attempt
  readonly outcome: Outcome
  /** Mean over its seeds; absent: it has no score. */
  readonly score?: number | undefined
  /** Score of the incumbent when it was begun and after it. */
  readonly before?: number | undefined
  readonly after?: number | undefined
}

/**
 * Attempts with what became of them, and the incumbent around them. `succession` is the order in which they were kept, where it is
 * known: of two that ran side by side the one with the smaller number may have been kept last.
 */
export function placeAttempts(
  attempts: readonly ReportedAttempt[],
  succession: readonly string[] = [],
): PlacedAttempt[] {
  let incumbent: number | undefined
  let place = -1
  return attempts.map((reported) => {
    const { attempt } = reported
    const outcome = outcomeOf(attempt)
    const score = meanScore(attempt)
    const before = incumbent
    const rank = succession.lastIndexOf(attempt.id)
    if (score !== undefined && (outcome === 'baseline' || isKept({ outcome })) && (rank < 0 || rank > place)) {
      incumbent = score
      place = Math.max(place, rank)
    }
    return { reported, attempt, outcome, score, before, after: incumbent }
  })
}

/** A measured gain with the variance of its measurement. */
export function effectOf({ mean, n, sigma }: NonNullable<Attempt['gain']>): { effect: number; noise: number } {
  return { effect: mean, noise: sigma ** 2 / n }
}

function meanScore({ scores }: Pick<Attempt, 'scores'>): number | undefined {
  return scores.length === 0 ? undefined : sum(scores.map(({ value }) => value)) / scores.length
}

/** Positive where `to` is better than `from`. */
export function gainBetween(from: number | undefined, to: number | undefined, direction: Direction) {
  if (from === undefined || to === undefined) return undefined
  return direction === 'max' ? to - from : from - to
}

export function isKept({ outcome }: Pick<PlacedAttempt, 'outcome'>): boolean {
  return outcome === 'provisional' || outcome === 'confirmed'
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function outcomeOf({ number, verdict, failure }: Attempt): Outcome {
  if (number === 0) return 'baseline'
  return verdict ?? (failure === undefined ? 'running' : 'failed')
}

/** Items by key, in the order of first appearance. */
export function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}
