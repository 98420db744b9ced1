// What a session remembers: attempts with a score, and those that failed by their own fault.
import type { Attempt, SearchState } from '../../contracts/index.ts'
import { meritOf } from './standing.ts'

/** The cost of the model grows with the cube of these: the newest and the best are remembered. */
const mostRemembered = 400

/** An attempt with what it was worth, more is better. */
export type Remembered = { readonly attempt: Attempt; readonly merit: number }

// A candidate that failed is worse than all others: so the border of what fits and runs is learned. A machine that failed tells
// nothing of the candidate.
export function memorable({ attempts, direction }: SearchState): Remembered[] {
  const all: Remembered[] = []
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined) all.push({ attempt, merit })
    else if (attempt.verdict === 'failed' && attempt.failure?.class !== 'infra') {
      all.push({ attempt, merit: Number.NEGATIVE_INFINITY })
    }
  }
  return all
}

/** As many of them as the model can take. */
export function mostMemorable(all: readonly Remembered[]): readonly Remembered[] {
  if (all.length <= mostRemembered) return all
  const newest = all.slice(-mostRemembered / 2)
  const best = all.slice(0, -mostRemembered / 2).sort((a, b) => b.merit - a.merit)
  return [...best.slice(0, mostRemembered / 2), ...newest].sort((a, b) => a.attempt.number - b.attempt.number)
}
