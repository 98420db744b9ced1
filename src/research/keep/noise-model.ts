// Noise as it is learned during a session: how much seeds move a score, by the level of the score. A loss that falls by orders of
// magnitude takes its noise with it, so one number for a whole session is that of its worst candidates. Each candidate with two seeds
// or more gives a variance; its logarithm is a smooth function of the level, a Gaussian process over ranks and, for losses above zero,
// over their logarithm. What a seed does to all candidates alike is a share of the variance.
import type { Direction, MeasuredGain } from '../../contracts/index.ts'
import { meanOf, moments, normalQuantile } from '../../stats/index.ts'
import { GaussianProcess, kernelRows, noisyFactor } from '../surrogate/gaussian-process.ts'
import { gainOf, itemDifferences, itemVariance, type SeedResult, valuesBySeed } from './measure-gain.ts'
import { leastSd } from './session-noise.ts'

export interface NoiseModel {
  /** Variance of a score over seeds for a candidate whose mean is this, and the degrees of freedom that this is known by. */
  at(level: number): { readonly variance: number; readonly df: number }
  /** Share of that variance that all candidates have in common on a seed. */
  readonly shared: number
}

/** What a session measured of one candidate, and its paired gains over what it was raced against. */
export interface MeasuredCandidate {
  readonly scores: readonly SeedResult[]
  readonly pairs?: readonly number[] | undefined
}

/** Prior of the logarithm of the variance: spread of its level, and of how it moves with rank and with the logarithm of a loss. */
const prior = { level: 4, rank: 1, reach: 0.7, slope: { mean: 1, variance: 1 } }
/** Pairs that have to show that seeds have something in common, before half of it is believed. */
const sharedWorth = 4
const mostShared = 0.95

export function learnNoise(candidates: readonly MeasuredCandidate[], direction: Direction): NoiseModel {
  const all = candidates.flatMap(({ scores, pairs = [] }) => {
    const values = [...valuesBySeed(scores).values()]
    return values.length === 0 ? [] : [{ values, level: meanOf(values), pairs }]
  })
  const least = leastSd(candidates.flatMap(({ scores }) => scores))
  const spread = all.flatMap(({ values, level }) => {
    const { variance, n } = moments(values)
    return variance === null ? [] : [{ level, variance, df: n - 1 }]
  })
  // Seeds that agree to the last digit say that scores are coarse, where others do not.
  const told = spread.filter(({ variance }) => variance > least ** 2)
  if (told.length === 0) {
    // One seed says nothing: then a difference as large as the score itself counts as noise, and nothing is kept by luck.
    const variance = spread.length > 0 ? least ** 2 : (all[0]?.level ?? 1) ** 2 || 1
    return { at: () => ({ variance, df: Math.max(1, spread.length) }), shared: 0 }
  }
  const place = placer(
    all.map(({ level }) => level),
    direction,
  )
  const points = told.map(({ level }) => place(level))
  const logs = told.map(({ variance, df }) => Math.log(variance) - biasOfLog(df))
  const errors = told.map(({ df }) => varianceOfLog(df))
  const weight = errors.reduce((sum, error) => sum + 1 / error, 0)
  const trend = ([, size = 0]: readonly number[]) => prior.slope.mean * size
  const centre = logs.reduce((sum, log, i) => sum + (log - trend(points[i] ?? [])) / (errors[i] ?? 1) / weight, 0)
  const factor = noisyFactor(kernelRows(kernel, points), (i) => errors[i] ?? 1)
  const targets = Float64Array.from(logs, (log, i) => log - centre - trend(points[i] ?? []))
  const process = new GaussianProcess({ kernel, points, factor, targets })
  const at = (level: number) => {
    const point = place(level)
    const { mean, variance: unsure } = process.predict(point)
    // What is hardly known is taken for larger: a session that trusts a small noise too early cannot take back what it drops.
    const log = centre + trend(point) + mean + Math.min(2, Math.max(0, unsure)) / 4
    return { variance: Math.max(least ** 2, Math.exp(log)), df: Math.max(1, 2 / Math.max(unsure, 0.02)) }
  }
  return { at, shared: sharedOf(all, at) }
}

/**
 * The gain by a model of noise: the difference of two means over the seeds that either ran, by generalised least squares, where each
 * has the noise of its level and a share of it is common to both on a seed. Undefined where one of them has no score.
 */
export function compareByNoise(options: {
  readonly direction: Direction
  readonly candidate: readonly SeedResult[]
  readonly incumbent: readonly SeedResult[]
  readonly noise: NoiseModel
}): MeasuredGain | undefined {
  const { direction, candidate, incumbent, noise } = options
  const [own, other] = [valuesBySeed(candidate), valuesBySeed(incumbent)]
  if (own.size === 0 || other.size === 0) return undefined
  const a = noise.at(meanOf([...own.values()])).variance
  const b = noise.at(meanOf([...other.values()])).variance
  const common = noise.shared * Math.sqrt(a * b)
  const determinant = a * b - common ** 2
  // Sums of the information on both means: a seed that both ran ties them together.
  const sums = { aa: 0, bb: 0, ab: 0, a: 0, b: 0 }
  for (const [seed, value] of own) {
    const against = other.get(seed)
    if (against === undefined) {
      sums.aa += 1 / a
      sums.a += value / a
      continue
    }
    sums.aa += b / determinant
    sums.bb += a / determinant
    sums.ab -= common / determinant
    sums.a += (b * value - common * against) / determinant
    sums.b += (a * against - common * value) / determinant
  }
  for (const [seed, value] of other) {
    if (own.has(seed)) continue
    sums.bb += 1 / b
    sums.b += value / b
  }
  const all = sums.aa * sums.bb - sums.ab ** 2
  const ours = (sums.bb * sums.a - sums.ab * sums.b) / all
  const theirs = (sums.aa * sums.b - sums.ab * sums.a) / all
  const variance = (sums.aa + sums.bb + 2 * sums.ab) / all
  const mean = gainOf(direction, ours, theirs)
  const n = own.size
  const table = itemDifferences(direction, candidate, incumbent)
  if (table === undefined) return { mean, n, sigma: Math.sqrt(n * variance) }
  const items = itemVariance(table, variance * table.length)
  return { mean, n, sigma: Math.sqrt(n * (variance + items)), item_error: Math.sqrt(items) }
}

type Raced = { readonly values: readonly number[]; readonly level: number; readonly pairs: readonly number[] }

// The variance of pairs beside that of two scores: what is missing is what their seeds have in common.
function sharedOf(all: readonly Raced[], at: NoiseModel['at']): number {
  let seen = sharedWorth
  let df = sharedWorth
  for (const { pairs, level } of all) {
    if (pairs.length < 2) continue
    const { variance, mean, n } = moments(pairs)
    if (variance === null) continue
    const both = at(level).variance + at(level - mean).variance
    seen += Math.min(4, variance / both) * (n - 1)
    df += n - 1
  }
  return Math.min(mostShared, Math.max(0, 1 - seen / df))
}

function kernel(a: readonly number[], b: readonly number[]): number {
  const [rank = 0, size = 0] = a
  const [otherRank = 0, otherSize = 0] = b
  const apart = (rank - otherRank) / prior.reach
  return prior.level + prior.rank * Math.exp((-apart * apart) / 2) + prior.slope.variance * size * otherSize
}

// Where a level lies: the normal quantile of its rank among all that were scored, and for losses above zero its logarithm.
function placer(levels: readonly number[], direction: Direction): (level: number) => readonly number[] {
  const sorted = [...levels].sort((a, b) => a - b)
  const isLoss = direction === 'min' && (sorted[0] ?? 0) > 0
  const middle = isLoss ? Math.log(sorted[sorted.length >> 1] ?? 1) : 0
  return (level) => {
    const below = sorted.filter((each) => each < level).length
    const equal = sorted.filter((each) => each === level).length
    const rank = normalQuantile((below + (equal + 1) / 2) / (sorted.length + 1))
    return [rank, isLoss && level > 0 ? Math.log(level) - middle : 0]
  }
}

// Mean and variance of the logarithm of a variance that was measured with so many degrees of freedom, beside that of the true one:
// digamma(df / 2) - log(df / 2), and trigamma(df / 2).
function biasOfLog(df: number): number {
  let digamma = df % 2 === 0 ? -eulerGamma : -eulerGamma - 2 * Math.LN2
  for (let x = df % 2 === 0 ? 1 : 0.5; x < df / 2; x++) digamma += 1 / x
  return digamma - Math.log(df / 2)
}

function varianceOfLog(df: number): number {
  let trigamma = df % 2 === 0 ? Math.PI ** 2 / 6 : Math.PI ** 2 / 2
  for (let x = df % 2 === 0 ? 1 : 0.5; x < df / 2; x++) trigamma -= 1 / x ** 2
  return trigamma
}

const eulerGamma = 0.5772156649015329
