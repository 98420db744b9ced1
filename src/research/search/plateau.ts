// How long the search has stood still, by what was measured: verdicts wait for seeds, a plateau should not.
import type { SearchState } from '../../contracts/index.ts'
import { meritOf } from './standing.ts'

/** Judged attempts since the best one. */
export function stalledFor({ attempts, direction }: Pick<SearchState, 'attempts' | 'direction'>): number {
  let best = Number.NEGATIVE_INFINITY
  let since = 0
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined && merit > best) {
      best = merit
      since = 0
    } else if (attempt.verdict !== undefined) since++
  }
  return since
}
