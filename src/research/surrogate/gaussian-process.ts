// The posterior of a Gaussian process (Rasmussen and Williams 2006, algorithm 2.1), whatever its kernel and its points are. Which kernel,
// how its scales are fitted and in which units targets are is the business of the two models: of attempts and of knobs.

import { normalCdf } from '../../stats/index.ts'
import { cholesky, solveCholesky, solveLower, type Triangle } from './linear-algebra.ts'

/** How alike two points are: the covariance of what is modelled. */
export type Kernel<P> = (a: P, b: P) => number

interface Conditioning<P> {
  readonly kernel: Kernel<P>
  readonly points: readonly P[]
  /** Of the kernel matrix of the points with its noise. */
  readonly factor: Triangle
  /** What was observed at each point. */
  readonly targets: Float64Array
}

/** A process after observations. */
export class GaussianProcess<P> {
  readonly #kernel: Kernel<P>
  readonly #points: readonly P[]
  readonly #factor: Triangle
  readonly #targets: Float64Array
  /** Inverse of the noisy kernel matrix times the targets. */
  readonly weights: Float64Array

  constructor({ kernel, points, factor, targets }: Conditioning<P>) {
    this.#kernel = kernel
    this.#points = points
    this.#factor = factor
    this.#targets = targets
    this.weights = solveCholesky(factor, targets)
  }

  /** What to expect at a point. The variance may be below zero by rounding. */
  predict(point: P): { readonly mean: number; readonly variance: number } {
    const alike = new Float64Array(this.#points.length)
    let mean = 0
    for (let i = 0; i < alike.length; i++) {
      const like = this.#kernel(point, this.#points[i] as P)
      alike[i] = like
      mean += like * (this.weights[i] as number) // a weight per point
    }
    let variance = this.#kernel(point, point)
    for (const part of solveLower(this.#factor, alike)) variance -= part * part
    return { mean, variance }
  }

  /**
   * Beliefs at many points, of which some are chosen one after the other before any of them is measured. A point that is chosen is believed
   * to score its mean (the kriging believer of Ginsbourger, Le Riche and Carraro 2010): means stay, and what lies near it is less unknown.
   */
  beliefs(points: readonly P[], noise: number) {
    const solved = points.map((point) => {
      const alike = Float64Array.from(this.#points, (other) => this.#kernel(point, other))
      const mean = alike.reduce((sum, like, i) => sum + like * (this.weights[i] as number), 0)
      return { mean, parts: [...solveLower(this.#factor, alike)] }
    })
    const variances = solved.map(({ parts }, i) =>
      parts.reduce((left, part) => left - part * part, this.#kernel(points[i] as P, points[i] as P)),
    )
    return {
      means: solved.map(({ mean }) => mean),
      /** What is not known of each; by rounding it may be below zero. */
      variances,
      choose: (place: number) => {
        const own = solved[place]?.parts ?? []
        const known = own.length
        const deviation = Math.sqrt(Math.max(1e-12, (variances[place] as number) + noise))
        for (const [i, { parts }] of solved.entries()) {
          if (i === place) continue
          let covariance = this.#kernel(points[i] as P, points[place] as P)
          for (let part = 0; part < known; part++) covariance -= (own[part] as number) * (parts[part] as number)
          parts.push(covariance / deviation)
          variances[i] = (variances[i] as number) - (covariance / deviation) ** 2
        }
        own.push(deviation)
      },
    }
  }

  /** Logarithm of the marginal likelihood of the targets, less a constant. */
  logEvidence(): number {
    const fit = this.#targets.reduce((sum, target, i) => sum + target * (this.weights[i] as number), 0)
    const logs = this.#factor.reduce((sum, row, i) => sum + Math.log(row[i] as number), 0)
    return -0.5 * fit - logs
  }
}

/** Rows of the kernel matrix of points, those before `from` left out. */
export function kernelRows<P>(kernel: Kernel<P>, points: readonly P[], from = 0): Triangle {
  return points
    .slice(from)
    .map((point, i) => Float64Array.from(points.slice(0, from + i + 1), (other) => kernel(point, other)))
}

/** The factor of a kernel matrix with the noise of each point on its diagonal. `before`: the factor of the rows before these. */
export function noisyFactor(rows: Triangle, noiseAt: (place: number) => number, before: Triangle = []): Triangle {
  const noisy = rows.map((row) => {
    const copy = Float64Array.from(row)
    const last = copy.length - 1
    copy[last] = (copy[last] as number) + noiseAt(last)
    return copy
  })
  return cholesky(noisy, before)
}

// What a candidate is worth trying: not its chance of being good, nor how good it would be, but their product (Jones, Schonlau and
// Welch 1998). A draw of chance per candidate, as in Thompson sampling, spends most runs on the luck of the draw when there are many.
/** The logarithm of the expected gain of a normal belief over the best; finite however small the gain is. */
export function logExpectedImprovement(mean: number, sd: number, best: number): number {
  const spread = Math.max(sd, 1e-6)
  const z = (mean - best) / spread
  if (z < -6) return Math.log(spread) - (z * z) / 2 - Math.log(2 * Math.PI) / 2 + logTail(z)
  const density = Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI)
  return Math.log(spread) + Math.log(density + z * normalCdf(z))
}

// Far below, both terms vanish and their difference is lost: this is its share of the density, by the asymptotic series.
function logTail(z: number): number {
  const part = 1 / (z * z)
  return Math.log(part) + Math.log1p(-3 * part + 15 * part ** 2 - 105 * part ** 3)
}
