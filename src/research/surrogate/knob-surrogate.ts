// A Gaussian process over knobs. Its kernel adds one part per knob, a slope per knob and one part for all together: with ten
// observations it knows which way each knob helps, with a hundred how they act on one another.
import { GaussianProcess, type Kernel, kernelRows, noisyFactor } from './gaussian-process.ts'
import type { Dimension, Point } from './knob-space.ts'

export interface Observed {
  readonly point: Point
  /** Lower is better. */
  readonly loss: number
  /** Seeds behind it. */
  readonly seeds: number
}

export interface Surrogate {
  predict(point: Point): Belief
  /** Beliefs at many points; one that is chosen is believed to score its mean, so that the next differs from it. */
  among(points: readonly Point[]): { belief(place: number): Belief; choose(place: number): void }
}

type Belief = { readonly mean: number; readonly sd: number }

const lengths = [0.15, 0.3, 0.6]
const noises = [0.02, 0.1, 0.4]

/** Fits length and noise by marginal likelihood. `noise`: sd of one score, where it is known. */
export function fitSurrogate(
  dimensions: readonly Dimension[],
  observed: readonly Observed[],
  centre: Point,
  noise: number | undefined,
): Surrogate {
  const losses = observed.map(({ loss }) => loss)
  const shift = losses.reduce((sum, each) => sum + each, 0) / Math.max(1, losses.length)
  const spread = Math.sqrt(losses.reduce((sum, each) => sum + (each - shift) ** 2, 0) / Math.max(1, losses.length - 1))
  const unit = spread > 0 ? spread : Math.max(noise ?? 0, Math.abs(shift) * 0.01, 1e-9)
  const nothing: Belief = { mean: shift, sd: unit }
  if (observed.length === 0) return { predict: () => nothing, among: () => ({ belief: () => nothing, choose() {} }) }
  const targets = Float64Array.from(losses, (loss) => (loss - shift) / unit)
  // Noise that is known may be too small for a kernel that fits badly: it is tried with more as well.
  const known = noise === undefined ? undefined : Math.min(1, Math.max(0.005, (noise / unit) ** 2))
  const tried = known === undefined ? noises : [known, known * 3]
  const seedsAt = (place: number) => Math.max(1, known === undefined ? 1 : (observed[place]?.seeds ?? 1))
  const points = observed.map(({ point }) => point)
  let best: { process: GaussianProcess<Point>; variance: number } | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const length of lengths) {
    const kernel = kernelOf(dimensions, centre, length)
    const rows = kernelRows(kernel, points)
    for (const variance of tried) {
      const factor = noisyFactor(rows, (place) => variance / seedsAt(place) + 1e-6)
      const process = new GaussianProcess({ kernel, points, factor, targets })
      const evidence = process.logEvidence()
      if (best !== undefined && !(evidence > most + 1e-9)) continue
      best = { process, variance }
      most = evidence
    }
  }
  const chosen = best as { process: GaussianProcess<Point>; variance: number } // the first was taken
  const believed = (mean: number, variance: number): Belief => {
    return { mean: shift + unit * mean, sd: unit * Math.sqrt(Math.max(1e-9, variance)) }
  }
  return {
    predict(point) {
      const { mean, variance } = chosen.process.predict(point)
      return believed(mean, variance)
    },
    among(points) {
      const { means, variances, choose } = chosen.process.beliefs(points, chosen.variance)
      return { choose, belief: (place) => believed(means[place] ?? 0, variances[place] ?? 0) }
    },
  }
}

function kernelOf(dimensions: readonly Dimension[], centre: Point, length: number): Kernel<Point> {
  const count = Math.max(1, dimensions.length)
  const joint = length * Math.sqrt(Math.max(1, count / 3)) // distances grow with the number of knobs
  const isCategory = dimensions.map(({ kind }) => kind === 'category')
  const middles = dimensions.map((_, i) => centre[i] ?? 0.5)
  // Indexed, since most of the time of the optimizer is spent here.
  return (a, b) => {
    let parts = 0
    let slopes = 0
    let squares = 0
    for (let i = 0; i < dimensions.length; i++) {
      const x = a[i] as number // a point has a number per dimension
      const y = b[i] as number
      if (isCategory[i] === true) {
        parts += x === y ? 1 : 0.2
        squares += x === y ? 0 : 1
      } else {
        const middle = middles[i] as number
        const apart = x - y
        parts += x === y ? 1 : Math.exp(-0.5 * (apart / length) ** 2)
        slopes += 4 * (x - middle) * (y - middle)
        squares += (apart / joint) ** 2
      }
    }
    return (0.5 * parts) / count + (0.6 * slopes) / count + 0.25 * Math.exp(-0.5 * squares)
  }
}
