// The mean of paired differences over seeds and items that are both a sample: what to expect with other seeds and on other items like
// these. Error and degrees of freedom follow the crossed table (`crossedAnova`; Satterthwaite 1946), with two cautions for small sets:
// - grain: the mean of coarse outcomes moves in steps, and the interval reaches half a step further (Yates 1934).
// - degrees of freedom of items: a variance that rests on a few items that differ, among many that do not, is known no better than those
//   few allow. A variance estimate over T values of kurtosis k has about 2 T / (k - 1) degrees of freedom (its own variance, by moments).

import { crossedAnova } from './crossed-anova.ts'
import { moments } from './moments.ts'
import { normalLogMills } from './normal-distribution.ts'
import { tQuantile, tTail } from './student-t.ts'

export interface CrossedGain {
  readonly mean: number
  /** Of the mean; null when nothing is known of spread. */
  readonly standardError: number | null
  readonly df: number | null
  /** Half the step in which the mean can move. */
  readonly grain: number
}

/** Mean and error of a complete table of differences, one row for each seed; rows of one value are scores without items. */
export function crossedGain(differences_S_T: readonly (readonly number[])[]): CrossedGain {
  const nSeeds = differences_S_T.length
  const nItems = differences_S_T[0]?.length ?? 0
  const { mean, means_S, seed, task, residual } = crossedAnova(differences_S_T)
  if (nItems === 1) return withError(mean, moments(means_S).variance ?? 0, nSeeds, nSeeds - 1, 0)
  const cells = nSeeds * nItems
  const itemSquare = task?.value ?? 0
  const seedSquare = seed?.value ?? 0
  const restSquare = residual?.value ?? 0
  const itemDf = itemsDf(differences_S_T)
  const identical = Math.max(seedSquare, restSquare) <= rounding * itemSquare
  const grain = stepOf(differences_S_T) / (2 * (identical ? nItems : cells))
  const both = seedSquare + itemSquare - restSquare
  // Where the moments leave one of the two no variance of its own, the other one is all that is seen.
  if (seed === null || residual === null || both <= Math.max(seedSquare, itemSquare)) {
    return seedSquare > itemSquare && seed !== null
      ? withError(mean, seedSquare, cells, seed.df, grain)
      : withError(mean, itemSquare, cells, itemDf, grain)
  }
  const df = both ** 2 / (seedSquare ** 2 / seed.df + itemSquare ** 2 / itemDf + restSquare ** 2 / residual.df)
  return withError(mean, both, cells, df, grain)
}

/** One-sided p-value of "no better than nothing"; 1 where nothing is known of spread. */
export function gainTail({ mean, standardError, df, grain }: CrossedGain): number {
  if (standardError === null || df === null) return 1
  const beyond = Math.sign(mean) * Math.max(0, Math.abs(mean) - grain)
  return tTail(beyond / standardError, df)
}

/** Interval whose lower end is above zero exactly where `gainTail` is below `tail`; null where nothing is known of spread. */
export function gainInterval(
  { mean, standardError, df, grain }: CrossedGain,
  tail: number,
): { readonly lower: number; readonly upper: number } | null {
  if (standardError === null || df === null) return null
  const reach = grain + tQuantile(1 - tail, df) * standardError
  return { lower: mean - reach, upper: mean + reach }
}

/**
 * The mean, corrected for having passed the test of `tail`: a mean that is known because it passed is too large, by the error times the
 * hazard of a normal at the limit. The hazard depends on the true gain, for which the mean stands first, and then the mean so corrected.
 * Two steps leave it above zero at every limit of a tail up to 5 %; all of them (the conditional estimate) would not.
 */
export function shrunkenByTest({ mean, standardError, df, grain }: CrossedGain, tail: number): number {
  if (standardError === null || df === null) return mean
  const limit = grain + tQuantile(1 - tail, df) * standardError
  const corrected = (truth: number) => mean - standardError * hazardAt((limit - truth) / standardError)
  return Math.max(0, corrected(corrected(mean)))
}

/** Density of a standard normal at x over its tail beyond x. */
function hazardAt(x: number): number {
  return Math.exp(-normalLogMills(-x)) / Math.sqrt(2 * Math.PI)
}

function withError(mean: number, square: number, cells: number, df: number, grain: number): CrossedGain {
  const standardError = Math.sqrt(square / cells)
  const isKnown = df > 0 && standardError > Math.abs(mean) * rounding
  return { mean, standardError: isKnown ? standardError : null, df: isKnown ? df : null, grain }
}

/** A spread below this share of the mean is rounding. */
const rounding = 1e-12

function itemsDf(differences_S_T: readonly (readonly number[])[]): number {
  const [first = []] = differences_S_T
  const means_T = first.map((_, t) => differences_S_T.reduce((sum, row) => sum + (row[t] ?? 0), 0))
  const { mean } = moments(means_T)
  const squares = means_T.reduce((sum, value) => sum + (value - mean) ** 2, 0) / means_T.length
  const fourths = means_T.reduce((sum, value) => sum + (value - mean) ** 4, 0) / means_T.length
  const most = means_T.length - 1
  if (squares === 0) return most
  return Math.min(most, Math.max(1, (2 * means_T.length) / Math.max(fourths / squares ** 2 - 1, 1e-9)))
}

// The smallest difference that was seen.
function stepOf(differences_S_T: readonly (readonly number[])[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const row of differences_S_T) {
    for (const value of row) if (value !== 0) least = Math.min(least, Math.abs(value))
  }
  return Number.isFinite(least) ? least : 0
}
