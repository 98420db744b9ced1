// Where a validation curve will end, from its first points, and how sure that is. A curve approaches its end by a power of the share of the
// training that is done; which power is not known, so several are fitted and weighed by how well they do. What a fit of few points says of
// its error is too little: errors that the same prediction made on curves that were seen to their end are counted in.
import { meanOf } from '../../stats/index.ts'

/** A point of a curve: the share of the training that is done, and the score. */
export interface CurvePoint {
  readonly share: number
  readonly value: number
}

export interface CurveEnd {
  readonly mean: number
  /** Standard error of the mean as a prediction. */
  readonly sd: number
  /** Share of the training that the prediction rests on. */
  readonly share: number
}

/** Powers of the share by which what is missing shrinks. */
const powers = [0.25, 0.5, 1, 2]
/** Of the range of scores, how far a curve may move in all of its training in a way that its points do not show. */
const unforeseen = 0.5
/** Curves for which what a prediction says of itself counts, beside those that were seen to their end. */
const selfWeight = 2

/**
 * The end of a curve; undefined without two points. `finished`: curves of the same session with the scores that they ended with. `noise`:
 * standard deviation of one score. The better of what is reached and what is expected counts, as the best checkpoint is kept.
 */
export function extrapolateCurve(
  points: readonly CurvePoint[],
  {
    finished,
    noise,
    direction,
  }: {
    readonly finished: readonly { readonly points: readonly CurvePoint[]; readonly value: number }[]
    readonly noise: number
    readonly direction: 'min' | 'max'
  },
): CurveEnd | undefined {
  const last = points.at(-1)
  if (last === undefined || points.length < 2) return undefined
  const { share } = last
  const values = [
    ...finished.flatMap((curve) => [curve.value, ...curve.points.map(({ value }) => value)]),
    ...points.map(({ value }) => value),
  ]
  const range = Math.max(...values) - Math.min(...values)
  const own = fitted(points, direction)
  const said = own.spread ** 2 + noise ** 2 + (unforeseen * range * (1 - share)) ** 2
  const errors = finished.flatMap(({ points: all, value }) => {
    const seen = all.filter((each) => each.share <= share + 1e-9)
    return seen.length < 2 || (seen.at(-1)?.share ?? 0) < share / 2 ? [] : [value - fitted(seen, direction).mean]
  })
  const squares = errors.reduce((sum, error) => sum + error ** 2, 0)
  const variance = (selfWeight * said + squares) / (selfWeight + errors.length)
  return { mean: own.mean, sd: Math.sqrt(Math.max(variance, noise ** 2)), share }
}

// One fit for each power by least squares, weighed by its likelihood. A curve that gets worse is held at what it had: its best checkpoint
// is kept.
function fitted(
  points: readonly CurvePoint[],
  direction: 'min' | 'max',
): { readonly mean: number; readonly spread: number } {
  const values = points.map(({ value }) => value)
  const best = direction === 'max' ? Math.max(...values) : Math.min(...values)
  const better = direction === 'max' ? Math.max : Math.min
  const fits = powers.map((power) => {
    const basis = points.map(({ share }) => share ** -power - 1)
    const [x, y] = [meanOf(basis), meanOf(values)]
    const squares = basis.reduce((sum, each) => sum + (each - x) ** 2, 0)
    const slope =
      squares === 0 ? 0 : basis.reduce((sum, each, i) => sum + (each - x) * ((values[i] ?? y) - y), 0) / squares
    const end = y - slope * x
    const misfit = basis.reduce((sum, each, i) => sum + ((values[i] ?? y) - end - slope * each) ** 2, 0)
    return { end: better(end, best), misfit: misfit / points.length }
  })
  const least = Math.min(...fits.map(({ misfit }) => misfit))
  const total = meanOf(values.map((value) => (value - meanOf(values)) ** 2))
  const scale = Math.max(least, 0.02 * total, Number.MIN_VALUE)
  const weights = fits.map(({ misfit }) => Math.exp((-points.length * (misfit - least)) / (2 * scale)))
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const mean = fits.reduce((all, { end }, i) => all + ((weights[i] ?? 0) / sum) * end, 0)
  const variance = fits.reduce((all, { end }, i) => all + ((weights[i] ?? 0) / sum) * (end - mean) ** 2, 0)
  return { mean, spread: Math.sqrt(variance) }
}

/** Standard errors that a prediction must lie below what is to be beaten. */
const condemning = 2
/** Shares of a training before which none is ended: where no curve has risen yet, none says how late one may. */
const leastShare = { usual: 0.3, flat: 0.5 }

/** Whether a training will hardly end better than `best`. `isFlat`: neither its own curve nor any before it has moved yet. */
export function isHopeless(
  { mean, sd, share }: CurveEnd,
  { best, direction, isFlat }: { readonly best: number; readonly direction: 'min' | 'max'; readonly isFlat: boolean },
): boolean {
  const behind = direction === 'max' ? best - mean : mean - best
  if (isFlat) return share >= leastShare.flat - 1e-9 && behind >= 0
  return share >= leastShare.usual - 1e-9 && behind > 0 && behind >= condemning * sd
}
