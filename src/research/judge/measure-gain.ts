// How much better a candidate is, from everything that is known of the incumbent. On shared seeds the two are compared seed by seed. The
// incumbent's other seeds help too: they say how lucky it was on the shared ones. The less a seed does to all candidates alike, the
// more they count (the regression estimator of double sampling, Cochran 1977, section 12.6, with a common variance).

import type { Direction, MeasuredGain, Race } from '../../contracts/index.ts'
import { meanOf } from './mean-of.ts'
import { gainOf, type SeedResult, valuesBySeed } from './pair-gains.ts'

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
