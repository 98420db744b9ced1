// What to print of an effect that was picked among many, where most ideas do little and some do great harm. One normal prior would
// take the harm for a wide spread of gains and shrink nothing. Here the prior is a mixture that the effects themselves weigh: nothing
// at all, gains of several sizes, losses of several sizes (half-normals, as in the adaptive shrinkage of Stephens 2017). Weights by
// expectation and maximisation; nothing at all counts for one effect more than was seen, which errs on the side of no gain.

import { normalCdf, normalDensity } from './normal-distribution.ts'
import type { MeasuredEffect, ShrunkEffect } from './shrinkage.ts'

export interface EffectMixture {
  readonly components: readonly { readonly side: -1 | 0 | 1; readonly scale: number; readonly weight: number }[]
}

/** Effects that nothing at all counts for beforehand. */
const penalty = 1
const rounds = 200

/** The mixture of true effects among all that were tried; null below three, where nothing can be weighed. */
export function effectMixture(tried: readonly MeasuredEffect[]): EffectMixture | null {
  if (tried.length < 3) return null
  const wrong = tried.find(({ noise }) => !(noise >= 0))
  if (wrong !== undefined) throw new RangeError(`the noise of an effect must be zero or more, not ${wrong.noise}`)
  const shapes = shapesFor(tried)
  const likelihood_E_C = tried.map((effect) => {
    const logs = shapes.map((shape) => logMarginal(effect, shape))
    const top = Math.max(...logs)
    return logs.map((log) => Math.exp(log - top))
  })
  let weights = shapes.map(() => 1 / shapes.length)
  for (let round = 0; round < rounds; round++) {
    const counts: number[] = shapes.map(({ side }) => (side === 0 ? penalty : 0))
    for (const row of likelihood_E_C) {
      const joint = row.map((value, c) => value * (weights[c] ?? 0))
      const total = joint.reduce((sum, value) => sum + value, 0)
      if (total > 0) for (const [c, value] of joint.entries()) counts[c] = (counts[c] ?? 0) + value / total
    }
    const all = counts.reduce((sum, value) => sum + value, 0)
    weights = counts.map((count) => count / all)
  }
  return { components: shapes.map((shape, c) => ({ ...shape, weight: weights[c] ?? 0 })) }
}

/** The posterior of one effect under the mixture. */
export function shrinkByMixture(effect: MeasuredEffect, { components }: EffectMixture): ShrunkEffect {
  const logs = components.map((shape) => logMarginal(effect, shape) + Math.log(shape.weight))
  const top = Math.max(...logs)
  let [total, mean, square, notBetter] = [0, 0, 0, 0]
  for (const [c, shape] of components.entries()) {
    const share = Math.exp((logs[c] ?? Number.NEGATIVE_INFINITY) - top)
    const part = posterior(effect, shape)
    total += share
    mean += share * part.mean
    square += share * (part.variance + part.mean ** 2)
    if (shape.side < 1) notBetter += share
  }
  const shrunk = mean / total
  return {
    effect: shrunk,
    factor: effect.effect === 0 ? 1 : shrunk / effect.effect,
    standardError: Math.sqrt(Math.max(0, square / total - shrunk ** 2)),
    probabilityNotBetter: notBetter / total,
  }
}

interface Shape {
  readonly side: -1 | 0 | 1
  readonly scale: number
}

// Scales from a quarter of the noise to the largest effect, each twice the one before.
function shapesFor(tried: readonly MeasuredEffect[]): Shape[] {
  const largest = Math.max(...tried.map(({ effect }) => Math.abs(effect)), Number.MIN_VALUE)
  const noises = tried.map(({ noise }) => Math.sqrt(noise)).filter((sd) => sd > 0)
  const smallest = noises.length === 0 ? largest / 64 : Math.min(...noises) / 4
  const scales: number[] = []
  for (let scale = smallest; scale < 2 * largest && scales.length < 40; scale *= 2) scales.push(scale)
  const used = scales.length === 0 ? [smallest] : scales
  return [
    { side: 0, scale: 0 },
    ...used.flatMap((scale): Shape[] => [
      { side: 1, scale },
      { side: -1, scale },
    ]),
  ]
}

// A half-normal of this scale seen through normal noise: 2 N(x; 0, s^2 + v) Phi(side m / sd), m and sd those of the posterior.
function logMarginal({ effect, noise }: MeasuredEffect, { side, scale }: Shape): number {
  const variance = scale ** 2 + noise
  if (variance === 0) return effect === 0 ? 0 : -1e9
  const log = -0.5 * Math.log(2 * Math.PI * variance) - effect ** 2 / (2 * variance)
  if (side === 0) return log
  return log + Math.log(2) + Math.log(Math.max(1e-300, normalCdf(side * truncation(effect, noise, scale))))
}

// How many of its standard deviations the untruncated posterior lies above zero.
function truncation(effect: number, noise: number, scale: number): number {
  if (noise === 0) return effect === 0 ? 0 : effect * 1e9
  const factor = scale ** 2 / (scale ** 2 + noise)
  return (factor * effect) / Math.sqrt(factor * noise)
}

// Mean and variance of a normal cut off at zero.
function posterior({ effect, noise }: MeasuredEffect, { side, scale }: Shape): { mean: number; variance: number } {
  if (side === 0) return { mean: 0, variance: 0 }
  if (noise === 0) return { mean: Math.sign(effect) === side ? effect : 0, variance: 0 }
  const factor = scale ** 2 / (scale ** 2 + noise)
  const sd = Math.sqrt(factor * noise)
  const above = side * truncation(effect, noise, scale)
  // Far below zero the quotient is that of Mills: -above + 1 / -above.
  const ratio = above > -30 ? normalDensity(above) / Math.max(1e-300, normalCdf(above)) : -above - 1 / above
  return {
    mean: side * sd * Math.max(0, above + ratio),
    variance: sd ** 2 * Math.min(1, Math.max(0, 1 - ratio * (ratio + above))),
  }
}
