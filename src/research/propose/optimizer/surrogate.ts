// A Gaussian process over knobs. Its kernel adds one part per knob, a slope per knob and one part for all together: with ten
// observations it knows which way each knob helps, with a hundred how they act on one another.

import type { Dimension, Point } from './knob-space.ts'
import { cholesky, dot, type Matrix, solveCholesky, solveLower } from './linear-algebra.ts'

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

const scales = [0.15, 0.3, 0.6]
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
  const targets = losses.map((loss) => (loss - shift) / unit)
  // Noise that is known may be too small for a kernel that fits badly: it is tried with more as well.
  const known = noise === undefined ? undefined : Math.min(1, Math.max(0.005, (noise / unit) ** 2))
  const tried = known === undefined ? noises : [known, known * 3]
  let best: { score: number; lower: Matrix; weights: number[]; kernel: Kernel } | undefined
  for (const scale of scales) {
    const kernel = kernelOf(dimensions, centre, scale)
    const gram = observed.map(({ point: a }) => observed.map(({ point: b }) => kernel(a, b)))
    for (const variance of tried) {
      const noisy = gram.map((row, i) => row.map((value, j) => (i === j ? value + noiseOf(i, variance) : value)))
      const lower = cholesky(noisy)
      const weights = solveCholesky(lower, targets)
      const logs = lower.reduce((sum, row, i) => sum + Math.log(row[i] ?? 1), 0)
      const score = -0.5 * dot(targets, weights) - logs
      if (best === undefined || score > best.score + 1e-9) best = { score, lower, weights, kernel }
    }
  }
  return {
    predict(point) {
      if (best === undefined || observed.length === 0) return { mean: shift, sd: unit }
      const { kernel, lower, weights } = best
      const column = observed.map(({ point: each }) => kernel(each, point))
      const half = solveLower(lower, column)
      const variance = Math.max(1e-9, kernel(point, point) - dot(half, half))
      return { mean: shift + unit * dot(column, weights), sd: unit * Math.sqrt(variance) }
    },
  }

  function noiseOf(place: number, variance: number): number {
    return variance / Math.max(1, known === undefined ? 1 : (observed[place]?.seeds ?? 1)) + 1e-6
  }
}

type Kernel = (a: Point, b: Point) => number

function kernelOf(dimensions: readonly Dimension[], centre: Point, scale: number): Kernel {
  const count = Math.max(1, dimensions.length)
  const joint = scale * Math.sqrt(Math.max(1, count / 3)) // distances grow with the number of knobs
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
        const distance = ((x - y) / scale) ** 2
        parts += Math.exp(-0.5 * distance)
        slopes += 4 * (x - middle) * (y - middle)
        squares += ((x - y) / joint) ** 2
      }
    }
    return (0.5 * parts) / count + (0.6 * slopes) / count + 0.25 * Math.exp(-0.5 * squares)
  }
}
