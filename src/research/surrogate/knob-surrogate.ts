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
  predict(point: Point): { readonly mean: number; readonly sd: number }
}

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
  if (observed.length === 0) return { predict: () => ({ mean: shift, sd: unit }) }
  const targets = Float64Array.from(losses, (loss) => (loss - shift) / unit)
  // Noise that is known may be too small for a kernel that fits badly: it is tried with more as well.
  const known = noise === undefined ? undefined : Math.min(1, Math.max(0.005, (noise / unit) ** 2))
  const tried = known === undefined ? noises : [known, known * 3]
  const seedsAt = (place: number) => Math.max(1, known === undefined ? 1 : (observed[place]?.seeds ?? 1))
  const points = observed.map(({ point }) => point)
  let best: GaussianProcess<Point> | undefined
  let most = Number.NEGATIVE_INFINITY
  for (const length of lengths) {
    const kernel = kernelOf(dimensions, centre, length)
    const rows = kernelRows(kernel, points)
    for (const variance of tried) {
      const factor = noisyFactor(rows, (place) => variance / seedsAt(place) + 1e-6)
      const process = new GaussianProcess({ kernel, points, factor, targets })
      const evidence = process.logEvidence()
      if (best !== undefined && !(evidence > most + 1e-9)) continue
      best = process
      most = evidence
    }
  }
  const chosen = best
  return {
    predict(point) {
      if (chosen === undefined) return { mean: shift, sd: unit }
      const { mean, variance } = chosen.predict(point)
      return { mean: shift + unit * mean, sd: unit * Math.sqrt(Math.max(1e-9, variance)) }
    },
  }
}

function kernelOf(dimensions: readonly Dimension[], centre: Point, length: number): Kernel<Point> {
  const count = Math.max(1, dimensions.length)
  const joint = length * Math.sqrt(Math.max(1, count / 3)) // distances grow with the number of knobs
  return (a, b) => {
    let parts = 0
    let slopes = 0
    let squares = 0
    for (const [i, { kind }] of dimensions.entries()) {
      const x = a[i] ?? 0
      const y = b[i] ?? 0
      if (kind === 'category') {
        parts += x === y ? 1 : 0.2
        squares += x === y ? 0 : 1
      } else {
        const middle = centre[i] ?? 0.5
        const distance = ((x - y) / length) ** 2
        parts += Math.exp(-0.5 * distance)
        slopes += 4 * (x - middle) * (y - middle)
        squares += ((x - y) / joint) ** 2
      }
    }
    return (0.5 * parts) / count + (0.6 * slopes) / count + 0.25 * Math.exp(-0.5 * squares)
  }
}
