// How alike two candidates are by their knobs, as effects that they share: of single knobs, of pairs, of triples (Duvenaud, Nickisch
// and Rasmussen 2011, additive Gaussian processes), and of values wherever they stand. Each has its scale; those of the knobs also
// weigh them in pairs and triples.
import { cholesky, inverse, solveCholesky } from './linear-algebra.ts'

/** Numbers of a kernel over some axes: a scale per axis, then of pairs, of triples, of values wherever they stand, and the noise. */
export type Scales = Float64Array

/** Places of a scale after those of the axes. */
const placeAfter = { pairs: 0, triples: 1, shared: 2, noise: 3 } as const

/** What is expected before anything was measured, beside a variance of scores of 1. */
export function usualScales(axes: number): Scales {
  const scales = new Float64Array(axes + 4).fill(1 / axes, 0, axes)
  scales[axes + placeAfter.pairs] = 1
  scales[axes + placeAfter.triples] = 0.3
  scales[axes + placeAfter.shared] = 0.3
  scales[axes + placeAfter.noise] = 0.15
  return scales
}

/** `parts` at a place: how alike on each axis, then on all axes of the same choices. `slopes`: by the logarithm of every scale. */
export function knobLikeness(parts: Float64Array, at: number, scales: Scales, slopes?: Float64Array): number {
  const axes = scales.length - 4
  let sum = 0
  let squares = 0
  let cubes = 0
  for (let axis = 0; axis < axes; axis++) {
    const part = (scales[axis] as number) * (parts[at + axis] as number) // a part per axis, and one more
    sum += part
    squares += part * part
    cubes += part * part * part
  }
  // Sums over pairs and triples by Newton's identities.
  const pairs = (sum * sum - squares) / 2
  const triples = (sum * sum * sum - 3 * sum * squares + 2 * cubes) / 6
  const ofPairs = scales[axes + placeAfter.pairs] as number
  const ofTriples = scales[axes + placeAfter.triples] as number
  const shared = (scales[axes + placeAfter.shared] as number) * (parts[at + axes] as number)
  if (slopes !== undefined) {
    for (let axis = 0; axis < axes; axis++) {
      const part = (scales[axis] as number) * (parts[at + axis] as number)
      slopes[axis] = part * (1 + ofPairs * (sum - part) + ofTriples * (pairs - part * (sum - part)))
    }
    slopes[axes + placeAfter.pairs] = ofPairs * pairs
    slopes[axes + placeAfter.triples] = ofTriples * triples
    slopes[axes + placeAfter.shared] = shared
  }
  return sum + ofPairs * pairs + ofTriples * triples + shared
}

// Which knobs matter, how much they work together and how loud the seeds are, learned from the scores themselves: the scales under which
// they are most likely (Rasmussen and Williams 2006, equation 5.9), held near the usual ones while little is known.
/** Spread of the logarithm of a scale around the usual one. */
const spread = 1
/** Steps by the sign of the slope alone need no tuning (Riedmiller and Braun 1993). */
const rounds = 20
const firstStep = 0.3
const longestStep = 1

/** What was tried, i after i; what is of two stands at i (i + 1) / 2 + j, where j is not after i. */
export interface Observed {
  readonly axes: number
  /** How alike two are on each axis, and on all of the same choices: axes + 1 numbers for two. */
  readonly parts: Float64Array
  /** How alike two are besides. */
  readonly besides: Float64Array
  readonly seeds: readonly number[]
  readonly scores: Float64Array
}

export function fitScales(observed: Observed): Scales {
  const usual = usualScales(observed.axes)
  const logs = usual.map(Math.log)
  const steps = new Float64Array(logs.length).fill(firstStep)
  const last = new Float64Array(logs.length)
  for (let round = 0; round < rounds; round++) {
    const slopes = slopesOf(observed, logs.map(Math.exp))
    for (const [i, log] of logs.entries()) {
      const slope = (slopes[i] ?? 0) - (log - Math.log(usual[i] ?? 1)) / spread ** 2
      const turned = slope * (last[i] ?? 0)
      const step = turned > 0 ? Math.min(1.2 * (steps[i] ?? 0), longestStep) : (steps[i] ?? 0) * (turned < 0 ? 0.5 : 1)
      steps[i] = step
      last[i] = turned < 0 ? 0 : slope
      logs[i] = log + Math.sign(last[i] ?? 0) * step
    }
  }
  return logs.map(Math.exp)
}

/** Of the logarithm of the likelihood, by the logarithm of each scale. */
export function slopesOf({ axes, parts, besides, seeds, scores }: Observed, scales: Scales): Float64Array {
  const noise = scales[scales.length - 1] as number // the last of them
  const rows = seeds.map((count, i) => {
    const row = new Float64Array(i + 1)
    for (let j = 0, at = (i * (i + 1)) / 2; j <= i; j++, at++) {
      row[j] = knobLikeness(parts, at * (axes + 1), scales) + (besides[at] as number)
    }
    row[i] = (row[i] as number) + noise / count
    return row
  })
  const factor = cholesky(rows)
  const weights = solveCholesky(factor, scores)
  const inverted = inverse(factor)
  const slopes = new Float64Array(scales.length)
  const own = new Float64Array(scales.length)
  for (const [i, row] of inverted.entries()) {
    for (let j = 0, at = (i * (i + 1)) / 2; j <= i; j++, at++) {
      const pull = ((weights[i] as number) * (weights[j] as number) - (row[j] as number)) * (i === j ? 0.5 : 1)
      knobLikeness(parts, at * (axes + 1), scales, own)
      own[own.length - 1] = i === j ? noise / (seeds[i] as number) : 0
      for (let scale = 0; scale < own.length; scale++)
        slopes[scale] = (slopes[scale] as number) + pull * (own[scale] as number)
    }
  }
  return slopes
}
