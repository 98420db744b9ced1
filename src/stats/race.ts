// A candidate races the incumbent seed by seed: bad ones are dropped at once, very good ones stop early, and what is left at the
// last seed is parked as a near miss. z_n = mean(gain_1..n) sqrt(n) / sigma_d, positive when the candidate is better.
// This keeps do-nothing changes out; it does not make the search faster.

import { requireFinite } from './moments.ts'

export type RaceSeeds = 2 | 3 | 5

export interface RaceRule {
  /** Keep when z_n > threshold sqrt(maxSeeds / n): the shape of O'Brien and Fleming (1979), hard early and mild late. */
  readonly threshold: number
  readonly maxSeeds: RaceSeeds
  /** Drop when z_n falls below the n-th of these. Absent: those that are usual for so many seeds. */
  readonly floors?: readonly number[] | undefined
  /** Keep after one seed where z is above this. Absent: two are needed. */
  readonly atOnce?: number | undefined
}

export type RaceDecision = 'continue' | 'discard' | 'keep' | 'inconclusive'

// Discard as soon as z_n falls below floors[n - 1]. A floor above zero loses a real gain of one sigma on its first seed in one case of
// five, and finds more all the same: the second seeds that it spares are first seeds of other ideas. Long races, where gains are
// small, are more patient.
const floors: Readonly<Record<RaceSeeds, readonly number[]>> = {
  2: [0.2],
  3: [0.2, 0.3],
  5: [-0.2, 0.1, 0.4, 0.9],
}

/** Fixed rules by name; `balanced` is `adaptiveRule`, and in sessions of the second rules `steering`. */
export const racePresets = {
  explore: { threshold: 0.35, maxSeeds: 2 },
  strict: { threshold: 1.75, maxSeeds: 5 },
  // Where the choice before the end decides, a keep only steers: little evidence is enough, on three seeds at most.
  steering: { threshold: 0.35, maxSeeds: 3, floors: [0.3, 0.2] },
} as const satisfies Record<string, RaceRule>

/** What to do about a gain that is `z` standard errors above zero after `n` seeds, one or more. */
export function decideRaceAt(n: number, z: number, rule: RaceRule): RaceDecision {
  requireFinite([z], 'z')
  const floor = (rule.floors ?? floors[rule.maxSeeds])[n - 1]
  if (floor !== undefined && z < floor) return 'discard'
  if (rule.atOnce !== undefined && z > rule.atOnce) return 'keep'
  if (n >= 2 && z > rule.threshold * Math.sqrt(rule.maxSeeds / n)) return 'keep'
  if (n < rule.maxSeeds) return 'continue'
  // A loss is no near miss.
  return z < 0 ? 'discard' : 'inconclusive'
}

// Typical gains, in sigmas, at which the rule is as loose and as strict as it gets. While ideas are large, sessions stand at 0.5 to 1.2;
// where they are lost in the noise, below 0.4 (docs/benchmarks/research-keep.md).
const loose = 0.8
const strict = 0.2
// What is kept on less than the first helps in one case of three, and brings a hundredth of the gain.
const thresholds = { loose: 0.6, strict: 1.35 } as const

/** The rule for a search whose keeps lately gained `typicalGain` sigmas: the smaller the gains, the stricter. */
export function adaptiveRule(typicalGain: number): RaceRule & { readonly strictness: number } {
  requireFinite([typicalGain], 'typicalGain')
  const strictness = Math.min(Math.max((loose - typicalGain) / (loose - strict), 0), 1)
  const maxSeeds = strictness < 0.34 ? 2 : strictness < 0.75 ? 3 : 5
  return { strictness, threshold: thresholds.loose + (thresholds.strict - thresholds.loose) * strictness, maxSeeds }
}

/** Moving average of kept gains in sigmas: 0.7 old + 0.3 new at a keep, fading by 1.5 % at anything else (`null`). */
export function updateTypicalGain(typicalGain: number, keptGain: number | null): number {
  return keptGain === null ? 0.985 * typicalGain : 0.7 * typicalGain + 0.3 * keptGain
}
