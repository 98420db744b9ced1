// Differences between two candidates over the seeds that both ran. Positive is better, whatever the direction of the metric. A score
// that is missing or not a number makes no pair: it can never count as a gain.

import type { Direction, SeedScore } from '../../contracts/index.ts'

/** A score that may not have come: null where the run failed. */
export interface SeedResult {
  readonly seed: number
  readonly value: number | null
}

/** Gains of `candidate` over `other`, one for each shared seed, in the order of the candidate's runs. */
export function pairGains(
  direction: Direction,
  candidate: readonly SeedResult[],
  other: readonly SeedResult[],
): number[] {
  const values = valuesBySeed(other)
  return [...valuesBySeed(candidate)].flatMap(([seed, value]) => {
    const against = values.get(seed)
    return against === undefined ? [] : [gainOf(direction, value, against)]
  })
}

/** How much better `value` is than `against`. */
export function gainOf(direction: Direction, value: number, against: number): number {
  return direction === 'max' ? value - against : against - value
}

/** Finite values by seed; of a seed that ran twice, the first. */
export function valuesBySeed(results: readonly SeedResult[]): Map<number, number> {
  const values = new Map<number, number>()
  for (const { seed, value } of results) {
    if (value !== null && Number.isFinite(value) && !values.has(seed)) values.set(seed, value)
  }
  return values
}

/** Whether any run ended without a number. */
export function hasFailure(results: readonly (SeedResult | SeedScore)[]): boolean {
  return results.some(({ value }) => value === null || !Number.isFinite(value))
}
