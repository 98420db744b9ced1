// Against tunnel vision: a family that was tried too often in a row without a keep has to wait for another.
import type { Attempt } from '../../contracts/index.ts'
import { isKept } from './standing.ts'

/** Most attempts of one family in a row that keep nothing. */
export const familyCap = 3

/** The family to leave out next, if another one is known. */
export function tiredFamilies(attempts: readonly Attempt[], banned: readonly string[]): string[] {
  const tried = attempts.filter(({ number }) => number > 0)
  const last = tried.slice(-familyCap)
  const family = last[0]?.family
  if (family === undefined || last.length < familyCap) return []
  if (last.some((attempt) => attempt.family !== family || isKept(attempt))) return []
  // A proposer of a single family would have nothing left to say.
  const others = tried.some((attempt) => attempt.family !== family && !banned.includes(attempt.family))
  return others ? [family] : []
}
