// How much better a candidate is, from everything that is known of the incumbent. On shared seeds the two are compared seed by seed. The
// incumbent's other seeds help too: they say how lucky it was on the shared ones. The less a seed does to all candidates alike, the
// more they count (the regression estimator of double sampling, Cochran 1977, section 12.6, with a common variance).
import type { Direction, MeasuredGain, Race, SeedScore } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'

/** The gain with its error: `sigma / sqrt(n)`. Undefined without a shared seed. */
export function measureGain(options: {
  readonly direction: Direction
  readonly candidate: readonly SeedResult[]
  readonly incumbent: readonly SeedResult[]
  readonly noise: Race['noise']
}): MeasuredGain | undefined {
  const { direction, noise } = options
  const known = valuesBySeed(options.incumbent)
  const own = [...valuesBySeed(options.candidate)].filter(([seed]) => known.has(seed))
  const n = own.length
  if (n === 0) return undefined
  const ran = new Set(own.map(([seed]) => seed))
  const shared = own.map(([seed]) => known.get(seed) ?? Number.NaN)
  const other = [...known].flatMap(([seed, value]) => (ran.has(seed) ? [] : [value]))
  const value = meanOf(own.map(([, score]) => score))
  const weight = weightOfShared(n, other.length, noise.shared)
  const against = weight === 1 ? meanOf(shared) : weight * meanOf(shared) + (1 - weight) * meanOf(other)
  return {
    mean: gainOf(direction, value, against),
    n,
    sigma: weight === 1 ? noise.sigma : Math.sqrt(n * varianceOf(n, other.length, weight, noise)),
  }
}

// What a seed does to all candidates alike has the share rho of a score's variance: rho 1 leaves only pairs, rho 0 counts all seeds of
// the incumbent alike.
function weightOfShared(n: number, others: number, rho: number | undefined): number {
  return rho === undefined || others === 0 ? 1 : (n + rho * others) / (n + others)
}

function varianceOf(n: number, others: number, weight: number, { sigma, seedSd }: Race['noise']): number {
  const own = sigma ** 2 / 2
  const all = Math.max(own, (seedSd ?? 0) ** 2)
  return ((1 + weight ** 2) * own) / n + (1 - weight) ** 2 * ((all - own) / n + all / others)
}

// Differences between two candidates over the seeds that both ran. Positive is better, whatever the direction of the metric. A score
// that is missing or not a number makes no pair: it can never count as a gain.
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
