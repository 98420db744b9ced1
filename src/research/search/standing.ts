// Where a session stands, as strategies see it: what was measured, best first, and how long nothing was kept.
import type { Attempt, Direction, SearchState } from '../../contracts/index.ts'

/** An attempt with its score, turned so that more is better. */
export type Scored = { readonly attempt: Attempt; readonly merit: number }

/** Mean over its seeds, turned so that more is better; absent when nothing was measured or it failed. */
export function meritOf(attempt: Attempt, direction: Direction): number | undefined {
  const { scores, verdict } = attempt
  if (verdict === 'failed' || scores.length === 0) return undefined
  let sum = 0
  for (const { value } of scores) sum += value
  const mean = sum / scores.length
  if (!Number.isFinite(mean)) return undefined
  return direction === 'max' ? mean : -mean
}

/** Attempts with a score, best first; of equals the older one. */
export function ranked({ attempts, direction }: Pick<SearchState, 'attempts' | 'direction'>): Scored[] {
  const scored: Scored[] = []
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined) scored.push({ attempt, merit })
  }
  return scored.sort((a, b) => b.merit - a.merit || a.attempt.number - b.attempt.number)
}

/** Judged attempts since the last one that was kept; the baseline counts as kept. */
export function discardsInARow(attempts: readonly Attempt[]): number {
  let count = 0
  for (let place = attempts.length - 1; place >= 0; place--) {
    const attempt = attempts[place]
    if (attempt === undefined || attempt.verdict === undefined) continue
    if (isKept(attempt)) break
    count++
  }
  return count
}

export function isKept({ number, verdict }: Pick<Attempt, 'number' | 'verdict'>): boolean {
  return number === 0 || verdict === 'provisional' || verdict === 'confirmed'
}
