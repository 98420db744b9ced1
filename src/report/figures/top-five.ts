import { isKept, type PlacedAttempt } from './placed-attempt.ts'
import type { SessionFigures } from './session-figures.ts'

/** The best of what was kept; where that is fewer than five, near misses follow. A lucky single score is no better than a keep. */
export function topFive({ placed, direction }: Pick<SessionFigures, 'placed' | 'direction'>): PlacedAttempt[] {
  const sign = direction === 'max' ? 1 : -1
  const rank = (each: PlacedAttempt) => (isKept(each) ? 1 : 0)
  return placed
    .filter(
      ({ score, fate }) =>
        score !== undefined && fate !== 'baseline' && fate !== 'discarded' && fate !== 'failed' && fate !== 'running',
    )
    .sort(
      (a, b) => rank(b) - rank(a) || sign * ((b.score ?? 0) - (a.score ?? 0)) || a.attempt.number - b.attempt.number,
    )
    .slice(0, 5)
}
