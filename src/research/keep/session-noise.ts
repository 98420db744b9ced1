// Noise of a session: what the baseline's seeds say at first, and every race since. Sums of squares and degrees of freedom add up, so
// the state is three numbers and a race is added without looking back.

import { moments, type Noise, pooledNoise } from '../../stats/index.ts'
import { type SeedResult, valuesBySeed } from './measure-gain.ts'

/** Share that seeds are taken to have in common before any race, and the degrees of freedom that this is worth. */
const sharedBefore = 0.5
const sharedWorth = 8

export interface SessionNoise {
  /** Standard deviation of one paired difference; above zero, also where all runs agree to the last digit. */
  readonly sigma: number
  readonly degreesOfFreedom: number
  /** Standard deviation of one candidate over seeds, and its degrees of freedom. */
  readonly seedSd: number
  readonly seedDegreesOfFreedom: number
  /** Share of a score's variance that all candidates have in common on one seed; one half while no race has shown it. */
  readonly shared: number
  /** Degrees of freedom of `sigma` that races brought. */
  readonly raced: number
  /** Of the baseline alone, for people: seed sd, jitter of one seed, and effects that 2, 3 and 5 seeds show. */
  readonly baseline: Noise
}

/** Noise as the baseline alone shows it. `repeats`: scores of a seed that ran more than once. */
export function openNoise(scores: readonly SeedResult[], repeats: readonly (readonly number[])[] = []): SessionNoise {
  const values = [...valuesBySeed(scores).values()]
  const baseline = pooledNoise({ baseline: values, repeats })
  const least = leastSd(scores)
  return {
    // One seed says nothing of noise: then a difference as large as the score itself counts as noise, and nothing is kept by luck.
    sigma: Math.max(Math.SQRT2 * least, baseline.sigma ?? Math.abs(values[0] ?? 1)),
    degreesOfFreedom: baseline.df,
    seedSd: Math.max(least, baseline.seedSd ?? Math.abs(values[0] ?? 1)),
    seedDegreesOfFreedom: Math.max(0, values.length - 1),
    shared: sharedBefore,
    raced: 0,
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
  const raced = noise.raced + gains.length - 1
  return withShared({
    ...noise,
    degreesOfFreedom,
    raced,
    sigma: Math.max(least, Math.sqrt(squares / degreesOfFreedom)),
  })
}

/** Noise after an incumbent was replaced: its scores say more of the spread over seeds, which control runs are held against. */
export function addIncumbent(noise: SessionNoise, scores: readonly SeedResult[]): SessionNoise {
  const values = [...valuesBySeed(scores).values()]
  if (values.length < 2) return noise
  const known = noise.seedDegreesOfFreedom
  const seedDegreesOfFreedom = known + values.length - 1
  const squares = (known === 0 ? 0 : noise.seedSd ** 2 * known) + (moments(values).variance ?? 0) * (values.length - 1)
  return withShared({
    ...noise,
    seedDegreesOfFreedom,
    seedSd: Math.max(leastSd(scores), Math.sqrt(squares / seedDegreesOfFreedom)),
  })
}

// sigma^2 = 2 (1 - rho) seedSd^2. The baseline alone does not show it: its sigma is that of seeds that share nothing. So one half is
// believed at first, and given up as races come in.
function withShared(noise: SessionNoise): SessionNoise {
  const { sigma, seedSd, raced } = noise
  const seen = Math.min(1, Math.max(0, 1 - sigma ** 2 / (2 * seedSd ** 2)))
  const belief = raced / (raced + sharedWorth)
  return { ...noise, shared: Number.isFinite(seen) ? belief * seen + (1 - belief) * sharedBefore : sharedBefore }
}

/** Noise of a whole session: its baseline, the gains of every race, and the scores of incumbents that were replaced, in order. */
export function sessionNoise(
  baseline: readonly SeedResult[],
  races: readonly (readonly number[])[] = [],
  repeats: readonly (readonly number[])[] = [],
  replaced: readonly (readonly SeedResult[])[] = [],
): SessionNoise {
  return replaced.reduce(addIncumbent, races.reduce(addGains, openNoise(baseline, repeats)))
}

/**
 * Least standard deviation of a score over seeds. Far below its last digit, so that a task without any noise can be divided by it; where
 * items are right or wrong, half an item: that no seed has changed one yet does not mean that none can.
 */
export function leastSd(scores: readonly SeedResult[]): number {
  // Of scores that are all 0: small beside any score, and its fourth power is a number.
  let least = 1e-60
  for (const { value, items } of scores) {
    if (value === null || !Number.isFinite(value)) continue
    least = Math.max(least, Math.abs(value) * 1e-12)
    if (items === undefined || items === 'fresh' || items.length === 0) continue
    if (items.every((each) => each === 0 || each === 1)) least = Math.max(least, 0.5 / items.length)
  }
  return least
}
