// A candidate races the incumbent seed by seed: bad ones are dropped at once, very good ones stop early, and what is left at the
// last seed is parked as a near miss. z_n = mean(gain_1..n) sqrt(n) / sigma_d, positive when the candidate is better.
// This keeps do-nothing changes out; it does not make the search faster.

import { requireFinite, requirePositive } from './require-finite.ts'

export type RaceSeeds = 2 | 3 | 5

export interface RaceRule {
  /** Keep when z_n > threshold sqrt(maxSeeds / n): the shape of O'Brien and Fleming (1979), hard early and mild late. */
  readonly threshold: number
  readonly maxSeeds: RaceSeeds
}

export type RaceDecision = 'continue' | 'discard' | 'keep' | 'inconclusive'

// Discard as soon as z_n falls below floors[n - 1]. The first is below zero: with a floor of zero a real gain of one sigma would be
// lost on its first seed in one case of four.
const floors: Readonly<Record<RaceSeeds, readonly number[]>> = {
  2: [-0.3],
  3: [-0.3, 0.2],
  5: [-0.5, 0, 0.4, 0.9],
}

/** Fixed rules by name; `balanced` is `adaptiveRule`. */
export const racePresets = {
  explore: { threshold: 0.35, maxSeeds: 2 },
  strict: { threshold: 1.75, maxSeeds: 5 },
} as const satisfies Record<string, RaceRule>

/** What to do after the gains seen so far. */
export function decideRace(gains: readonly number[], sigma: number, rule: RaceRule): RaceDecision {
  requireFinite(gains, 'gains')
  requirePositive(sigma, 'sigma')
  const n = gains.length
  if (n === 0) return 'continue'
  const z = gains.reduce((sum, gain) => sum + gain, 0) / Math.sqrt(n) / sigma
  const floor = floors[rule.maxSeeds][n - 1]
  if (floor !== undefined && z < floor) return 'discard'
  if (n >= 2 && z > rule.threshold * Math.sqrt(rule.maxSeeds / n)) return 'keep'
  return n < rule.maxSeeds ? 'continue' : 'inconclusive'
}

/** The rule for a search whose keeps lately gained `typicalGain` sigmas: the smaller the gains, the stricter. */
export function adaptiveRule(typicalGain: number): RaceRule & { readonly strictness: number } {
  requireFinite([typicalGain], 'typicalGain')
  const strictness = Math.min(Math.max((1.6 - typicalGain) / 1.2, 0), 1)
  const maxSeeds = strictness < 0.34 ? 2 : strictness < 0.75 ? 3 : 5
  return { strictness, threshold: 0.35 + strictness, maxSeeds }
}

/** Moving average of kept gains in sigmas: 0.7 old + 0.3 new at a keep, fading by 1.5 % at anything else (`null`). */
export function updateTypicalGain(typicalGain: number, keptGain: number | null): number {
  return keptGain === null ? 0.985 * typicalGain : 0.7 * typicalGain + 0.3 * keptGain
}
