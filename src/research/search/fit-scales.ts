// Which knobs matter, how much they work together and how loud the seeds are, told by the scores themselves: the scales under which
// they are most likely (Rasmussen and Williams 2006, equation 5.9), held near the usual ones while little is known.
import { cholesky, inverse, solveLower, solveUpper } from './cholesky.ts'
import { knobLikeness, type Scales, usualScales } from './knob-kernel.ts'

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
  const weights = solveUpper(factor, solveLower(factor, scores))
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
