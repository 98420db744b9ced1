// Attempts by category or family: how many, what became of them, what they gained.
import { type MeasuredEffect, shrink } from '../../stats/index.ts'
import { groupBy } from './group-by.ts'
import { effectOf, isKept, type PlacedAttempt, sum } from './placed-attempt.ts'
import type { SessionFigures } from './session-figures.ts'

export interface GroupFigures {
  readonly name: string
  readonly attempts: readonly PlacedAttempt[]
  readonly kept: number
  readonly confirmed: number
  readonly nearMisses: number
  readonly discarded: number
  readonly failed: number
  /** Sum of the shrunken gains of what was kept. */
  readonly gain: number
  /** Mean of all measured gains, kept or not. */
  readonly meanGain?: number
}

/** Groups in the order of what they gained, then of their size. */
export function groupFigures(
  { placed, prior }: Pick<SessionFigures, 'placed' | 'prior'>,
  keyOf: (attempt: PlacedAttempt) => string,
): GroupFigures[] {
  const tried = placed.filter(({ fate }) => fate !== 'baseline')
  return [...groupBy(tried, keyOf)]
    .map(([name, attempts]) => {
      const count = (...fates: readonly string[]) => attempts.filter(({ fate }) => fates.includes(fate)).length
      const effects = attempts.flatMap(({ attempt }) => (attempt.gain === undefined ? [] : [effectOf(attempt.gain)]))
      const shrunken = (effect: MeasuredEffect) =>
        prior === null ? effect.effect : shrink(effect, prior).effect
      const kept = attempts
        .filter(isKept)
        .flatMap(({ attempt: { gain } }) => (gain === undefined ? [] : effectOf(gain)))
      return {
        name,
        attempts,
        kept: count('provisional', 'confirmed'),
        confirmed: count('confirmed'),
        nearMisses: count('inconclusive'),
        discarded: count('discarded'),
        failed: count('failed'),
        gain: sum(kept.map(shrunken)),
        ...(effects.length === 0 ? {} : { meanGain: sum(effects.map(({ effect }) => effect)) / effects.length }),
      }
    })
    .sort((a, b) => b.gain - a.gain || b.attempts.length - a.attempts.length || (a.name < b.name ? -1 : 1))
}
