// Verdicts in words for people: how much better, on how many seeds, against how much noise, and what would decide what is open.

import type { MeasuredGain } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'

/** Cost of one more seed, where it is known. */
export interface SeedCost {
  readonly seconds?: number | undefined
  readonly usd?: number | undefined
}

/** What a race has shown: gains seed by seed, and the gain over all of them with its noise. */
export interface RaceSeen {
  readonly pairs: readonly number[]
  /** Absent before the first shared seed. */
  readonly gain: MeasuredGain | undefined
}

/** `Kept (provisional): better on 2 of 2 shared seeds, 1.4x noise; 83 % likely to help.` */
export function keptWords(
  seen: RaceSeen,
  { chance, why }: { readonly chance?: number | undefined; readonly why?: string | undefined } = {},
): string {
  // Shorter code is not kept for a gain.
  const more =
    why ?? noNoiseWords(seen) ?? (chance === undefined ? luckWords(seen) : `${percent(chance)} likely to help`)
  return `Kept (provisional): ${betterOn(seen)}, ${timesNoise(seen)}${more === undefined ? '' : `; ${more}`}.`
}

/** `Kept (provisional) before the end: better on 2 of 3 shared seeds, 0.4x noise; 71 % likely to be the better one by all that was tried.` */
export function chosenWords(seen: RaceSeen, chance: number): string {
  return `Kept (provisional) before the end: ${betterOn(seen)}, ${timesNoise(seen)}; ${percent(chance)} likely to be the better one by all that was tried.`
}

// Seeds that all agree are one observation, and no chance can be computed from it.
function noNoiseWords(seen: RaceSeen): string | undefined {
  return hasNoNoise(seen) ? 'its seeds show no noise, so nothing says how far it holds on other items' : undefined
}

function hasNoNoise({ gain }: RaceSeen): boolean {
  return gain !== undefined && Math.abs(gain.mean) >= 1000 * gain.sigma
}

// Before enough was tried to know how likely a gain is true, what chance alone often gives is called by its name.
function luckWords({ gain }: RaceSeen): string | undefined {
  const isSlight = gain !== undefined && gain.mean * Math.sqrt(gain.n) < slight * gain.sigma
  return isSlight ? 'it may be luck, and fresh seeds decide' : undefined
}

/** Standard errors below which a candidate that helps nothing shows such a gain in more than one race of twenty. */
const slight = 1.64

/** `Discarded: better on 0 of 1 shared seeds, -0.8x noise.` */
export function discardedWords(seen: RaceSeen, why?: string): string {
  const more = why ?? ((seen.gain?.mean ?? 0) > 0 ? 'too little to run more seeds' : undefined)
  return `Discarded: ${betterOn(seen)}, ${timesNoise(seen)}${more === undefined ? '' : `; ${more}`}.`
}

/** `Inconclusive: would need about 9 more seeds (45 min, $1.10).` */
export function inconclusiveWords(seen: RaceSeen, cost: SeedCost = {}): string {
  if (seen.gain !== undefined && isLimitedByItems(seen.gain))
    return `Inconclusive: ${betterOn(seen)}, ${timesNoise(seen)}; more seeds would not decide it, only more items.`
  const more = seen.gain === undefined ? null : seedsStillNeeded(seen.gain)
  if (more === null) return `Inconclusive: ${betterOn(seen)}, no gain to be seen.`
  const parts = [
    ...(cost.seconds === undefined ? [] : [duration(more * cost.seconds)]),
    ...(cost.usd === undefined ? [] : [`$${(more * cost.usd).toFixed(2)}`]),
  ]
  return `Inconclusive: would need about ${more} more ${more === 1 ? 'seed' : 'seeds'}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}.`
}

/** Seeds beyond those run that would show the gain seen, if it is the true one, in four of five cases; null when none was seen. */
export function seedsStillNeeded(gain: MeasuredGain): number | null {
  const { mean, n, sigma, item_error = 0 } = gain
  if (!(mean > 0) || isLimitedByItems(gain)) return null
  const bySeed = Math.max(0, sigma ** 2 - n * item_error ** 2)
  return Math.max(1, Math.ceil(bySeed / ((mean / visible) ** 2 - item_error ** 2)) - n)
}

/** z(0.95) + z(0.8): a gain of so many errors is seen by a one-sided 5 % test in four of five cases. */
const visible = 2.5

/** Whether the items alone keep a gain of this size from being decided, however many seeds are run. */
function isLimitedByItems({ mean, item_error = 0 }: MeasuredGain): boolean {
  return mean > 0 && visible * item_error >= mean
}

function betterOn({ pairs }: RaceSeen): string {
  return `better on ${pairs.filter((gain) => gain > 0).length} of ${pairs.length} shared ${pairs.length === 1 ? 'seed' : 'seeds'}`
}

// A gain counts all seeds of the incumbent. Where it was lucky or unlucky on the shared ones, the two may differ in sign.
function timesNoise({ pairs, gain }: RaceSeen): string {
  const ratio = gain === undefined ? 0 : gain.mean / gain.sigma
  // A task without noise: any difference is beyond all measure.
  if (gain !== undefined && hasNoNoise({ pairs, gain })) return ratio > 0 ? 'far above noise' : 'far below noise'
  const times = `${(Math.round(ratio * 10) / 10 + 0).toFixed(1)}x noise`
  return ratio * meanOf(pairs) < 0 ? `but ${times} against all seeds of the best` : times
}

// Never sure, never impossible: it is a belief.
function percent(chance: number): string {
  return `${Math.min(99, Math.max(1, Math.round(100 * chance)))} %`
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`
}
