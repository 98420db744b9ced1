// How noisy one paired difference is, from everything that was measured so far. One pair says almost nothing about noise; pooling
// the baseline's seeds with the differences of every candidate does:
//   sigma_d^2 = (nu0 s0^2 + sum_j sum_i (d_ij - mean_j)^2) / (nu0 + sum_j (n_j - 1)),  s0^2 = 2 Var(baseline), nu0 = N0 - 1

import { moments, requireFinite } from './moments.ts'

export interface NoiseOptions {
  readonly baseline: readonly number[]
  /** Scores of one seed run more than once, per seed. */
  readonly repeats?: readonly (readonly number[])[] | undefined
  /** Paired differences of later candidates, a list for each. */
  readonly differences?: readonly (readonly number[])[] | undefined
}

export interface Noise {
  /** Standard deviation of one paired difference; null when nothing was measured twice. */
  readonly sigma: number | null
  readonly df: number
  /** Standard deviation of the baseline over seeds. */
  readonly seedSd: number | null
  /** Standard deviation of runs of equal seed: 0 when the same seed gives the same score. */
  readonly jitterSd: number | null
  /** Effects that 2, 3 and 5 pairs show in four of five cases. */
  readonly visible: readonly { readonly pairs: number; readonly effect: number }[]
}

/** Noise of a paired difference, pooled over baseline and candidates. */
export function pooledNoise({ baseline, repeats = [], differences = [] }: NoiseOptions): Noise {
  for (const group of [baseline, ...repeats, ...differences]) requireFinite(group, 'scores')
  const seeds = pool([baseline])
  const jitter = pool(repeats)
  const later = pool(differences)
  const df = seeds.df + later.df
  const sigma = df === 0 ? null : Math.sqrt((2 * seeds.squares + later.squares) / df)
  return {
    sigma,
    df,
    seedSd: sdOf(seeds),
    jitterSd: sdOf(jitter),
    // 2.5 is z(0.95) + z(0.8): a one-sided 5 % test with power 0.8.
    visible: sigma === null ? [] : [2, 3, 5].map((pairs) => ({ pairs, effect: (2.5 * sigma) / Math.sqrt(pairs) })),
  }
}

interface Pool {
  readonly squares: number
  readonly df: number
}

function pool(groups: readonly (readonly number[])[]): Pool {
  let squares = 0
  let df = 0
  for (const group of groups) {
    if (group.length < 2) continue
    squares += (moments(group).variance ?? 0) * (group.length - 1)
    df += group.length - 1
  }
  return { squares, df }
}

function sdOf({ squares, df }: Pool): number | null {
  return df === 0 ? null : Math.sqrt(squares / df)
}
