// The sign-flip permutation test (Fisher 1935, section 21): if a treatment does nothing, each paired difference could as well have
// had the other sign. It assumes no distribution, but n pairs can never give p below 2^-n: at three seeds a p-value says nothing.

import type { Random } from '../contracts/index.ts'
import { requireCount, requireFinite } from './moments.ts'

export interface SignFlipOptions {
  readonly differences: readonly number[]
  /** `greater`: the mean difference is above zero. */
  readonly alternative: 'greater' | 'less' | 'two-sided'
  /** Only used beyond `exactUpTo` differences. */
  readonly random: Pick<Random, 'float'>
  readonly draws?: number | undefined
}

export interface SignFlipResult {
  readonly p: number
  /** The smallest p that these differences could have given. Where it is above your level, do not print `p`. */
  readonly smallestP: number
  readonly exact: boolean
}

/** All 2^n flips are counted up to this n: a million sums. */
export const exactUpTo = 20

/** Probability, over random signs, of a sum at least as extreme as the observed one. */
export function signFlip({ differences, alternative, random, draws = 20_000 }: SignFlipOptions): SignFlipResult {
  if (differences.length === 0) throw new RangeError('a sign-flip test needs at least one difference')
  requireFinite(differences, 'differences')
  requireCount(draws, 1, 'draws')
  // A zero has no sign to flip: it neither helps nor counts.
  const oriented = differences.filter((d) => d !== 0).map((d) => (alternative === 'less' ? -d : d))
  const twoSided = alternative === 'two-sided'
  const isExtreme = extremeTest(oriented, twoSided)
  const fewest = Math.min(1, (twoSided ? 2 : 1) * 2 ** -oriented.length)
  if (oriented.length <= exactUpTo) return { p: countAll(oriented, isExtreme), smallestP: fewest, exact: true }
  let extreme = 1 // the observed signs are one of the possible ones: p is never zero (Phipson and Smyth 2010)
  for (let i = 0; i < draws; i++) {
    const sum = oriented.reduce((total, d) => total + (random.float() < 0.5 ? d : -d), 0)
    if (isExtreme(sum)) extreme++
  }
  return { p: extreme / (draws + 1), smallestP: Math.max(fewest, 1 / (draws + 1)), exact: false }
}

function extremeTest(differences: readonly number[], twoSided: boolean): (sum: number) => boolean {
  const observed = differences.reduce((sum, d) => sum + d, 0)
  // Sums that are equal on paper differ in the last bits, and a tie counts as extreme.
  const slack = 1e-12 * differences.reduce((sum, d) => sum + Math.abs(d), 0)
  return twoSided ? (sum) => Math.abs(sum) >= Math.abs(observed) - slack : (sum) => sum >= observed - slack
}

// Gray code: each flip differs from the one before in one sign, so each sum costs one addition.
function countAll(differences: readonly number[], isExtreme: (sum: number) => boolean): number {
  const total = 2 ** differences.length
  const signed = Float64Array.from(differences)
  let sum = signed.reduce((all, d) => all + d, 0)
  let extreme = isExtreme(sum) ? 1 : 0
  for (let code = 1; code < total; code++) {
    const bit = 31 - Math.clz32(code & -code)
    const flipped = -(signed[bit] ?? 0)
    signed[bit] = flipped
    sum += 2 * flipped
    if (isExtreme(sum)) extreme++
  }
  return extreme / total
}
