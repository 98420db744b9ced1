// Bootstrap intervals of any statistic of independent values by percentiles (Efron and Tibshirani 1993, chapter 13). With fewer
// than about ten values they are too narrow: claims over few seeds rest on t intervals.
import type { Random } from '../contracts/index.ts'
import { at, type Interval, requireCount, requireFinite, requireFraction, tailOf } from './moments.ts'

export interface BootstrapOptions {
  readonly values: readonly number[]
  readonly statistic: (values: readonly number[]) => number
  readonly confidence: number
  /** Resamples; 2,000 keep the ends of a 90 % interval steady to about 2 % of its width. */
  readonly resamples?: number | undefined
  readonly random: Pick<Random, 'int'>
}

export interface BootstrapResult {
  readonly estimate: number
  readonly interval: Interval
  /** Standard deviation of the statistic over resamples. */
  readonly standardError: number
}

/** Interval of `statistic` by resampling values with replacement. */
export function bootstrap(options: BootstrapOptions): BootstrapResult {
  const { values, statistic, confidence, resamples = 2000, random } = options
  if (values.length < 2) throw new RangeError('a bootstrap needs at least two values')
  requireFinite(values, 'values')
  const estimate = statistic(values)
  const draw = () => statistic(values.map(() => values[random.int(values.length)] ?? Number.NaN))
  return { estimate, ...summary(replicate(draw, resamples), confidence) }
}

/** Sorted values of `draw`. */
function replicate(draw: () => number, resamples: number): Float64Array {
  requireCount(resamples, 100, 'resamples')
  const replicates = Float64Array.from({ length: resamples }, draw)
  requireFinite(Array.from(replicates), 'values of the statistic')
  return replicates.sort()
}

/** Interval and standard error from sorted replicates. */
function summary(replicates: Float64Array, confidence: number): Omit<BootstrapResult, 'estimate'> {
  requireFraction(confidence, 'confidence')
  const tail = tailOf(confidence)
  const n = replicates.length
  const mean = replicates.reduce((sum, value) => sum + value, 0) / n
  const squares = replicates.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const interval = { lower: quantile(replicates, tail), upper: quantile(replicates, 1 - tail), confidence }
  return { interval, standardError: Math.sqrt(squares / (n - 1)) }
}

// Linear between order statistics (Hyndman and Fan 1996, type 6: the p-th of n has probability p / (n + 1)).
function quantile(sorted: Float64Array, p: number): number {
  const position = Math.min(Math.max(p * (sorted.length + 1) - 1, 0), sorted.length - 1)
  const below = Math.floor(position)
  const low = sorted[below] ?? Number.NaN
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN
  return low + (position - below) * (high - low)
}

// Bootstrap of the mean of a crossed table of seeds and tasks: rows and columns are resampled independently (the pigeonhole
// bootstrap of Owen 2007), so that both kinds of chance are in the interval. It errs on the wide side.
export interface CrossedBootstrapOptions {
  readonly values_S_T: readonly (readonly number[])[]
  /** `fixed`: chance lies in the seeds alone; `random`: tasks are a sample too. */
  readonly tasks: 'fixed' | 'random'
  readonly confidence: number
  readonly resamples?: number | undefined
  readonly random: Pick<Random, 'int'>
}

/** Percentile interval of the mean of a complete seeds x tasks table. */
export function crossedBootstrap(options: CrossedBootstrapOptions): BootstrapResult {
  const { values_S_T, tasks, confidence, resamples = 2000, random } = options
  const nTasks = values_S_T[0]?.length ?? 0
  if (values_S_T.length < 2 || nTasks < 1) throw new RangeError('a bootstrap needs at least two seeds and one task')
  if (values_S_T.some((row) => row.length !== nTasks)) throw new RangeError('every seed needs the same tasks')
  requireFinite(values_S_T.flat(), 'values')
  const means_S = values_S_T.map((row) => row.reduce((sum, value) => sum + value, 0) / nTasks)
  const estimate = means_S.reduce((sum, value) => sum + value, 0) / means_S.length
  const draw = () => {
    const picked = means_S.map(() => random.int(means_S.length))
    if (tasks === 'fixed') return picked.reduce((sum, s) => sum + at(means_S, s), 0) / picked.length
    const columns = Array.from({ length: nTasks }, () => random.int(nTasks))
    let sum = 0
    for (const s of picked) for (const t of columns) sum += at(at(values_S_T, s), t)
    return sum / (picked.length * nTasks)
  }
  return { estimate, ...summary(replicate(draw, resamples), confidence) }
}
