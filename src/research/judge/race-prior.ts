// What the ideas of a session do on average, and how much they differ, from races that stopped when they had seen enough. The mean of a
// stopped race is off: bad luck stops it early and is never evened out. Sums are not: over races, sum of gains less n times the true gain
// is zero on average, and its square n times the noise, whenever a race stops by what it saw (Wald 1944). So sums are what mean and
// variance rest on. Single gains are weighed by a mixture of ideas that help, do nothing and hurt.

import { type EffectPrior, ideaMixture, type MeasuredEffect, weighEffect } from '../../stats/index.ts'

/** A measured gain: mean over n seeds of noise sigma each. */
export interface RacedGain {
  readonly mean: number
  readonly n: number
  readonly sigma: number
}

/** Spread of true effects among all that were raced, kept or not; null below three, where mean and variance say nothing. */
export function racePrior(races: readonly RacedGain[]): EffectPrior | null {
  if (races.length < 3) return null
  const sum = (value: (race: RacedGain) => number) => races.reduce((total, race) => total + value(race), 0)
  const seeds = sum(({ n }) => n)
  const mean = sum(({ mean: gain, n }) => gain * n) / seeds
  const noise = sum(({ n, sigma }) => n * sigma ** 2)
  const squares = sum(({ mean: gain, n }) => (n * (gain - mean)) ** 2)
  const weights = sum(({ n }) => n ** 2)
  const variance = Math.max(0, (squares - noise) / weights)
  const unit = unitOf(races)
  return {
    mean,
    variance,
    meanVariance: (noise / seeds + (variance * weights) / seeds) / seeds,
    // Without any noise nothing is luck.
    ...(unit > 0 && { mixture: ideaMixture(races.map(effectOfRace), unit) }),
  }
}

/** Chance that a gain helps, given all that were raced, however few. */
export function chanceToHelp(gain: RacedGain, races: readonly RacedGain[]): number {
  const all = [...races, gain]
  const unit = unitOf(all)
  if (!(unit > 0)) return Number(gain.mean > 0)
  const mixture = ideaMixture(all.map(effectOfRace), unit)
  return 1 - weighEffect(effectOfRace(gain), mixture).probabilityNotBetter
}

function unitOf(races: readonly RacedGain[]): number {
  return races.reduce((sum, { sigma }) => sum + sigma, 0) / races.length
}

/** The same gain as an effect with its error. */
export function effectOfRace({ mean, n, sigma }: RacedGain): MeasuredEffect {
  return { effect: mean, noise: sigma ** 2 / n }
}
