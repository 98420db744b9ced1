// What to print of an effect that was picked among many: the lucky part is taken back. Empirical Bayes with a normal prior
// (Efron and Morris 1975): g_hat = m + B (g - m), B = t2 / (t2 + noise), where m and t2 are the mean and the variance beyond noise of
// all effects that were tried, not only of those kept.

import { type IdeaMixture, weighEffect } from './idea-mixture.ts'
import type { MeasuredEffect, ShrunkEffect } from './measured-effect.ts'
import { moments } from './moments.ts'
import { normalCdf } from './normal-distribution.ts'

export interface EffectPrior {
  readonly mean: number
  /** Variance of true effects; 0 when noise explains all that was seen. */
  readonly variance: number
  /** Variance of `mean` itself. */
  readonly meanVariance: number
  /** What ideas do, where one normal does not tell it: `shrink` then goes by this. */
  readonly mixture?: IdeaMixture
}

/** The spread of true effects among all that were tried; null below three, where mean and variance say nothing. */
export function effectPrior(tried: readonly MeasuredEffect[]): EffectPrior | null {
  if (tried.length < 3) return null
  const wrong = tried.find(({ noise }) => !(noise >= 0))
  if (wrong !== undefined) throw new RangeError(`the noise of an effect must be zero or more, not ${wrong.noise}`)
  const { mean, variance } = moments(tried.map(({ effect }) => effect))
  const noise = moments(tried.map((one) => one.noise)).mean
  const spread = Math.max(0, (variance ?? 0) - noise)
  return { mean, variance: spread, meanVariance: (spread + noise) / tried.length }
}

/** The posterior of one effect. */
export function shrink({ effect, noise }: MeasuredEffect, prior: EffectPrior): ShrunkEffect {
  if (prior.mixture !== undefined) return weighEffect({ effect, noise }, prior.mixture)
  const total = prior.variance + noise
  const factor = total === 0 ? 1 : prior.variance / total
  const shrunk = prior.mean + factor * (effect - prior.mean)
  // B noise is the posterior variance for a known prior; the second part is the doubt about its mean (Morris 1983, eq. 1.16).
  const standardError = Math.sqrt(factor * noise + (1 - factor) ** 2 * prior.meanVariance)
  const probabilityNotBetter = standardError === 0 ? Number(shrunk <= 0) : normalCdf(-shrunk / standardError)
  return { effect: shrunk, factor, standardError, probabilityNotBetter }
}

/** How many of these keeps are expected to help nothing. */
export function expectedFalseKeeps(kept: readonly ShrunkEffect[]): number {
  return kept.reduce((sum, { probabilityNotBetter }) => sum + probabilityNotBetter, 0)
}
