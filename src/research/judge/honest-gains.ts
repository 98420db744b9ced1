// What a session says of its keeps and claims at the end: gains with the lucky part taken back, how many keeps are expected to help
// nothing, and p-values that count every look that was taken.

import type { Attempt } from '../../contracts/index.ts'
import { expectedFalseKeeps, holm, shrink } from '../../stats/index.ts'
import type { LookRecord } from './look-ledger.ts'
import { effectOfRace, type RacedGain, racePrior } from './race-prior.ts'

export interface KeptGain {
  /** Id of the attempt. */
  readonly id: string
  /** As measured, with its luck. Positive is better. */
  readonly raw: number
  readonly n: number
  /** Raw drawn towards what the ideas of this session do; absent while fewer than three were measured. */
  readonly shrunk?: number
  readonly standardError?: number
  /** Chance that it helps nothing. */
  readonly probabilityNotBetter?: number
}

export interface HonestGains {
  readonly kept: readonly KeptGain[]
  /** Keeps that are expected to help nothing; absent while too little was tried to say. */
  readonly expectedFalseKeeps?: number
  /** Every look with its p-value, and that adjusted for all looks by Holm's step-down. */
  readonly claims: readonly (Pick<LookRecord, 'number' | 'champion' | 'confirmed' | 'p'> & {
    readonly adjustedP: number
  })[]
}

/** An attempt, as far as it matters here. */
export type JudgedAttempt = Pick<Attempt, 'id' | 'number' | 'gain' | 'verdict'>

/** Kept gains and claims, told without their luck. */
export function honestGains(attempts: readonly JudgedAttempt[], looks: readonly LookRecord[]): HonestGains {
  const measured = attempts.flatMap((attempt) => {
    const gain = racedGain(attempt)
    return gain === undefined ? [] : [{ attempt, gain, effect: effectOfRace(gain) }]
  })
  const prior = racePrior(measured.map(({ gain }) => gain))
  const kept = measured
    .filter(({ attempt: { verdict } }) => verdict === 'provisional' || verdict === 'confirmed')
    .map(({ attempt, effect }) => ({
      attempt,
      effect,
      posterior: prior === null ? null : shrink(effect, prior),
    }))
  const posteriors = kept.flatMap(({ posterior }) => (posterior === null ? [] : [posterior]))
  const adjusted = holm(looks.map(({ p }) => p))
  return {
    kept: kept.map(({ attempt, effect, posterior }) => ({
      id: attempt.id,
      raw: effect.effect,
      n: attempt.gain?.n ?? 0,
      ...(posterior !== null && {
        shrunk: posterior.effect,
        standardError: posterior.standardError,
        probabilityNotBetter: posterior.probabilityNotBetter,
      }),
    })),
    ...(prior !== null && { expectedFalseKeeps: expectedFalseKeeps(posteriors) }),
    claims: looks.map(({ number, champion, confirmed, p }, i) => ({
      number,
      champion,
      confirmed,
      p,
      adjustedP: adjusted[i] ?? 1,
    })),
  }
}

// The baseline is no idea, and a gain that is no number says nothing.
function racedGain({ gain, number }: JudgedAttempt): RacedGain | undefined {
  return number === 0 || gain === undefined || !Number.isFinite(gain.mean) ? undefined : gain
}
