// Noise of a session: what the baseline's seeds say at first, and every race since. Sums of squares and degrees of freedom add up, so
// the state is three numbers and a race is added without looking back.

import { moments, type Noise, pooledNoise } from '../../stats/index.ts'
import { type SeedResult, valuesBySeed } from './pair-gains.ts'

export interface SessionNoise {
  /** Standard deviation of one paired difference; above zero, also where all runs agree to the last digit. */
  readonly sigma: number
  readonly degreesOfFreedom: number
  /** Standard deviation of one candidate over seeds. */
  readonly seedSd: number
  /** Of the baseline alone, for people: seed sd, jitter of one seed, and effects that 2, 3 and 5 seeds show. */
  readonly baseline: Noise
}

/** Noise as the baseline alone shows it. `repeats`: scores of a seed that ran more than once. */
export function openNoise(scores: readonly SeedResult[], repeats: readonly (readonly number[])[] = []): SessionNoise {
  const values = [...valuesBySeed(scores).values()]
  const baseline = pooledNoise({ baseline: values, repeats })
  const least = smallest(values)
  return {
    // One seed says nothing of noise: then a difference as large as the score itself counts as noise, and nothing is kept by luck.
    sigma: Math.max(least, baseline.sigma ?? Math.abs(values[0] ?? 1)),
    degreesOfFreedom: baseline.df,
    seedSd: Math.max(least, baseline.seedSd ?? Math.abs(values[0] ?? 1)),
    baseline,
  }
}

/** Noise after one more race, or any other list of paired gains of one candidate. */
export function addGains(noise: SessionNoise, gains: readonly number[]): SessionNoise {
  if (gains.length < 2) return noise
  const { variance } = moments(gains)
  const known = noise.degreesOfFreedom
  const degreesOfFreedom = known + gains.length - 1
  const squares = (known === 0 ? 0 : noise.sigma ** 2 * known) + (variance ?? 0) * (gains.length - 1)
  const least = known === 0 ? Number.MIN_VALUE : 0
  return { ...noise, degreesOfFreedom, sigma: Math.max(least, Math.sqrt(squares / degreesOfFreedom)) }
}

/** Noise of a whole session: its baseline and the gains of every race, in order. */
export function sessionNoise(
  baseline: readonly SeedResult[],
  races: readonly (readonly number[])[] = [],
  repeats: readonly (readonly number[])[] = [],
): SessionNoise {
  return races.reduce(addGains, openNoise(baseline, repeats))
}

// Far below the last digit of a score, so that a task without any noise can be divided by its sigma.
function smallest(values: readonly number[]): number {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Math.max(largest * 1e-12, 1e-100)
}
