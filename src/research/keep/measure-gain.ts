// How much better a candidate is, from everything that is known of the incumbent. On shared seeds the two are compared seed by seed. The
// incumbent's other seeds help too: they say how lucky it was on the shared ones. The less a seed does to all candidates alike, the
// more they count (the regression estimator of double sampling, Cochran 1977, section 12.6, with a common variance). Where outcomes are
// known item by item, the items are a sample as well: however many seeds agree, a gain is known no better than they allow.
import type { Direction, MeasuredGain, Race, SeedScore } from '../../contracts/index.ts'
import { crossedAnova, crossedGain, meanOf } from '../../stats/index.ts'

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
  const variance = weight === 1 ? noise.sigma ** 2 / n : varianceOf(n, other.length, weight, noise)
  const mean = gainOf(direction, value, against)
  const table = itemDifferences(direction, options.candidate, options.incumbent)
  if (table === undefined) return { mean, n, sigma: Math.sqrt(n * variance) }
  const items = itemVariance(table, noise.sigma ** 2)
  return { mean, n, sigma: Math.sqrt(n * (variance + items)), item_error: Math.sqrt(items) }
}

/** The gain of a race: by the noise that was learned, or in sessions of the first rules by one number for all. */
export function gainOfRace(race: Race): MeasuredGain | undefined {
  return (race.rules ?? 1) < 2 ? measureGain(race) : race.gain
}

/** A gain in units of the noise of one difference, for the typical gain of a session. A task without noise has no such unit, hence the most. */
export function gainInNoise({ mean, sigma }: MeasuredGain, noise: { readonly sigma: number }): number {
  return Math.min(mostInNoise, mean / Math.max(sigma, noise.sigma))
}

const mostInNoise = 10

/** Gains by seed and item over the seeds that both ran; undefined where outcomes of one are not known by item. */
export function itemDifferences(
  direction: Direction,
  candidate: readonly SeedResult[],
  other: readonly SeedResult[],
): number[][] | undefined {
  const own = resultsBySeed(candidate)
  const table: number[][] = []
  let nItems: number | undefined
  for (const [seed, against] of resultsBySeed(other)) {
    const result = own.get(seed)
    if (result === undefined) continue
    const [items, others] = [result.items, against.items]
    if (items === undefined || items === 'fresh' || others === undefined || others === 'fresh') return undefined
    nItems ??= items.length
    if (items.length < 2 || items.length !== nItems || others.length !== nItems) return undefined
    table.push(items.map((value, i) => gainOf(direction, value, others[i] ?? Number.NaN)))
  }
  return table.length === 0 ? undefined : table
}

/** What items add to the variance of the mean, beyond that of seeds. One seed does not tell the two apart: then the larger counts. */
export function itemVariance(differences_S_T: number[][], seedVariance: number): number {
  const [first = []] = differences_S_T
  if (differences_S_T.length === 1) return Math.max(0, errorOf([first]) ** 2 - seedVariance)
  const { task: between } = crossedAnova(differences_S_T).variance
  return (between ?? 0) / first.length
}

function errorOf(differences_S_T: number[][]): number {
  return crossedGain(differences_S_T).standardError ?? 0
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
  /** Outcomes by item, in the order of the split; `fresh`: new items by seed. Absent: not known. */
  readonly items?: readonly number[] | 'fresh' | undefined
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
  const found = new Map<number, number>()
  for (const { seed, value } of results) if (isNumber(value) && !found.has(seed)) found.set(seed, value)
  return found
}

function resultsBySeed(results: readonly SeedResult[]): Map<number, SeedResult> {
  const found = new Map<number, SeedResult>()
  for (const result of results) if (isNumber(result.value) && !found.has(result.seed)) found.set(result.seed, result)
  return found
}

const isNumber = (value: number | null): value is number => value !== null && Number.isFinite(value)

/** Whether every seed of both had items of its own. */
export function hasFreshItems(...sides: readonly (readonly SeedResult[])[]): boolean {
  const scored = sides.flatMap((results) => [...resultsBySeed(results).values()])
  return scored.length > 0 && scored.every(({ items }) => items === 'fresh')
}

/** Whether any run ended without a number. */
export function hasFailure(results: readonly (SeedResult | SeedScore)[]): boolean {
  return results.some(({ value }) => value === null || !Number.isFinite(value))
}
