// CMA-ES (Hansen 2016) as a fold over whatever was tried: attempts of other proposers are injected points (Hansen 2011), whose steps
// are shortened to what the distribution could have drawn.
import type { Random } from '../../../contracts/index.ts'
import { clamp } from '../../surrogate/knob-space.ts'
import { cell, type Matrix, symmetricEigen } from '../../surrogate/linear-algebra.ts'

export interface CmaState {
  readonly mean: readonly number[]
  readonly step: number
  readonly covariance: Matrix
  readonly generations: number
}

/** The distribution after these observations, in their order. Those without a loss count as the worst of their generation. */
export function foldCmaEs(
  start: readonly number[],
  observed: readonly { readonly point: readonly number[]; readonly loss: number | undefined }[],
  firstStep = 0.15,
): CmaState {
  const n = start.length
  const size = 4 + Math.floor(3 * Math.log(Math.max(1, n)))
  const parents = Math.floor(size / 2)
  const raw = Array.from({ length: parents }, (_, i) => Math.log(parents + 0.5) - Math.log(i + 1))
  const total = raw.reduce((sum, each) => sum + each, 0)
  const weights = raw.map((each) => each / total)
  const mass = 1 / weights.reduce((sum, each) => sum + each * each, 0)
  const cs = (mass + 2) / (n + mass + 5)
  const ds = 1 + cs + 2 * Math.max(0, Math.sqrt((mass - 1) / (n + 1)) - 1)
  const cc = (4 + mass / n) / (n + 4 + (2 * mass) / n)
  const c1 = 2 / ((n + 1.3) ** 2 + mass)
  const cmu = Math.min(1 - c1, (2 * (mass - 2 + 1 / mass)) / ((n + 2) ** 2 + mass))
  const expected = Math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))

  let mean = [...start]
  let step = firstStep
  let covariance: Matrix = start.map((_, i) => start.map((__, j) => (i === j ? 1 : 0)))
  let stepPath = new Array<number>(n).fill(0)
  let shapePath = new Array<number>(n).fill(0)
  let generations = 0
  for (let first = 0; first + size <= observed.length; first += size) {
    const ranked = observed
      .slice(first, first + size)
      .sort((a, b) => (a.loss ?? Number.MAX_VALUE) - (b.loss ?? Number.MAX_VALUE))
      .slice(0, parents)
    const { values, vectors } = symmetricEigen(covariance)
    const inverse = (y: readonly number[]) => whiten(values, vectors, y)
    const steps = ranked.map(({ point }) => {
      const y = point.map((value, i) => (value - (mean[i] ?? 0)) / step)
      const length = norm(inverse(y))
      const longest = expected + 2
      return length > longest ? y.map((value) => (value * longest) / length) : y
    })
    const move = mean.map((_, i) => steps.reduce((sum, y, k) => sum + (weights[k] ?? 0) * (y[i] ?? 0), 0))
    mean = mean.map((value, i) => clamp(value + step * (move[i] ?? 0)))
    const white = inverse(move)
    stepPath = stepPath.map((value, i) => (1 - cs) * value + Math.sqrt(cs * (2 - cs) * mass) * (white[i] ?? 0))
    generations++
    const isShort = norm(stepPath) / Math.sqrt(1 - (1 - cs) ** (2 * generations)) < (1.4 + 2 / (n + 1)) * expected
    shapePath = shapePath.map(
      (value, i) => (1 - cc) * value + (isShort ? Math.sqrt(cc * (2 - cc) * mass) * (move[i] ?? 0) : 0),
    )
    const path = shapePath
    covariance = covariance.map((row, i) =>
      row.map((value, j) => {
        const rankMu = steps.reduce((sum, y, k) => sum + (weights[k] ?? 0) * (y[i] ?? 0) * (y[j] ?? 0), 0)
        return (1 - c1 - cmu) * value + c1 * (path[i] ?? 0) * (path[j] ?? 0) + cmu * rankMu
      }),
    )
    step = Math.min(0.4, Math.max(0.01, step * Math.exp((cs / ds) * (norm(stepPath) / expected - 1))))
  }
  return { mean, step, covariance, generations }
}

/** Points drawn from the distribution, inside the space. */
export function sampleCmaEs({ mean, step, covariance }: CmaState, count: number, random: Random): number[][] {
  const { values, vectors } = symmetricEigen(covariance)
  const lengths = values.map((value) => Math.sqrt(Math.max(value, 1e-12)))
  return Array.from({ length: count }, () => {
    const z = lengths.map((length) => length * random.normal())
    return mean.map((value, i) => clamp(value + step * z.reduce((sum, each, k) => sum + cell(vectors, i, k) * each, 0)))
  })
}

function whiten(values: readonly number[], vectors: Matrix, y: readonly number[]): number[] {
  const turned = values.map((value, k) => {
    const along = y.reduce((sum, each, i) => sum + cell(vectors, i, k) * each, 0)
    return along / Math.sqrt(Math.max(value, 1e-12))
  })
  return y.map((_, i) => turned.reduce((sum, each, k) => sum + cell(vectors, i, k) * each, 0))
}

function norm(y: readonly number[]): number {
  return Math.sqrt(y.reduce((sum, each) => sum + each * each, 0))
}
