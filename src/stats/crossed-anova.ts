// Two-way crossed random effects, one value in each cell: d_st = mu + seed_s + task_t + residual_st. Variance components by the method
// of moments (Searle, Casella, McCulloch 1992, section 4.3): the expected mean squares are
//   MS_seed = T var_seed + var_residual,  MS_task = S var_task + var_residual,  MS_residual = var_residual

import { betaLogit } from './incomplete-beta.ts'
import { at } from './moments.ts'
import { tMultiplier } from './student-t.ts'

export interface CrossedAnova {
  readonly mean: number
  readonly means_S: readonly number[]
  readonly seed: MeanSquare | null
  readonly task: MeanSquare | null
  readonly residual: MeanSquare | null
  /** Estimated variances, at least 0; null where the table cannot tell. With one task all spread counts as the seeds'. */
  readonly variance: VarianceComponents
}

interface MeanSquare {
  readonly value: number
  readonly df: number
}

export interface VarianceComponents {
  readonly seed: number | null
  readonly task: number | null
  readonly residual: number | null
}

/** Analysis of variance of a complete table, of whose cells `filled` were put in by fit and carry no degree of freedom. */
export function crossedAnova(values_S_T: readonly (readonly number[])[], filled = 0): CrossedAnova {
  const nSeeds = values_S_T.length
  const nTasks = values_S_T[0]?.length ?? 0
  if (nSeeds === 0 || nTasks === 0 || values_S_T.some((row) => row.length !== nTasks)) {
    throw new RangeError('the table needs at least one seed and one task, and equal rows')
  }
  // Deviations from one of the values, so that a large common level costs no digits.
  const level = at(at(values_S_T, 0), 0)
  const means_S = values_S_T.map((row) => row.reduce((sum, value) => sum + (value - level), 0) / nTasks)
  const means_T = Array.from(
    { length: nTasks },
    (_, t) => values_S_T.reduce((sum, row) => sum + (at(row, t) - level), 0) / nSeeds,
  )
  const mean = means_S.reduce((sum, value) => sum + value, 0) / nSeeds
  let rest = 0
  for (const [s, row] of values_S_T.entries()) {
    for (const [t, value] of row.entries()) rest += (value - level - at(means_S, s) - at(means_T, t) + mean) ** 2
  }
  const seed = meanSquare(nTasks * squaresAround(means_S, mean), nSeeds - 1)
  const task = meanSquare(nSeeds * squaresAround(means_T, mean), nTasks - 1)
  const residual = meanSquare(rest, (nSeeds - 1) * (nTasks - 1) - filled)
  return {
    mean: mean + level,
    means_S: means_S.map((value) => value + level),
    seed,
    task,
    residual,
    variance: {
      seed: beyond(seed, nTasks === 1 ? { value: 0, df: 0 } : residual, nTasks),
      task: beyond(task, residual, nSeeds),
      residual: residual?.value ?? null,
    },
  }
}

function squaresAround(values: readonly number[], mean: number): number {
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
}

function meanSquare(squares: number, df: number): MeanSquare | null {
  return df > 0 ? { value: squares / df, df } : null
}

function beyond(effect: MeanSquare | null, residual: MeanSquare | null, cells: number): number | null {
  return effect === null || residual === null ? null : Math.max(0, (effect.value - residual.value) / cells)
}

// How uncertain the mean of a crossed table is: of the scores of one arm, or of the paired differences of two. Two questions, two answers:
// - on tasks like these (seeds and tasks both by chance): `overBoth`, with Satterthwaite's (1946) degrees of freedom. It decides claims.
// - on these very tasks (seeds by chance alone): `overSeeds`, the t interval over seed means. It is the detail.
//
// Few seeds of a coarse metric can agree by luck, and an interval of no width would then "prove" anything. So:
// - grain: the mean of S x T scores moves in steps of resolution / (S T); the interval reaches half a step further on each side
//   (Yates' 1934 continuity correction), unless both seeds and tasks are drawn, which leaves no steps.
// - resolution: the spread is not taken below what one flip of one score, by its smallest step, would show.
// - luck: nor below the line that it stays above in 19 of 20 experiments even when seeds add nothing to the noise of single tasks,
//   which the residual shows with many more degrees of freedom. (The residual itself as the floor would be safe too, but it would
//   widen every second interval, to a coverage of 99 % at three seeds.)
// When every seed gave the very same table, n seeds are one observation and only the tasks are left to vary: then the interval is over
// tasks, and with one task, or none that differ, there is none.
//
// Satterthwaite takes the spread of two or three seeds at its word, and where it came out small by luck the interval is too narrow. So where
// seeds differ by more than noise of single cells would make them in every second experiment, `overBoth` is no narrower than `overSeeds`.
// (Always: 98 % coverage at two seeds that differ by such noise alone. Never: 83 % at two seeds that differ by more.)
const luck = 0.05
const evenOdds = 0.5

export interface EffectError {
  readonly standardError: number
  readonly df: number
  /** Half the step in which the mean can move. */
  readonly grain: number
}

/** The error that an interval is made of, and which chance it holds. */
export interface TableError extends EffectError {
  readonly over: 'seeds' | 'tasks' | 'both'
}

export interface SeedError extends TableError {
  readonly over: 'seeds' | 'tasks'
  /** What the width rests on: the spread that was seen, or a floor. */
  readonly rests: 'spread' | 'luck' | 'resolution'
}

interface ErrorInput {
  readonly anova: CrossedAnova
  readonly nSeeds: number
  readonly nTasks: number
  /** Every seed gave the same differences, task by task, up to rounding. */
  readonly identical: boolean
  /** Smallest step that the score of one cell can take; null when unknown. */
  readonly resolution: number | null
  /** A spread no larger than this is rounding. */
  readonly rounding: number
  /** Half-widths of what each difference may be. Lost scores may hide spread, so it is taken at its largest. */
  readonly slack_S_T: readonly (readonly number[])[]
}

/** Error of the mean with tasks as they are; null when nothing is known of it. */
export function overSeeds(input: ErrorInput): SeedError | null {
  const { anova, nSeeds, nTasks, identical, resolution, rounding, slack_S_T } = input
  if (anova.seed === null) return null
  if (identical && slack_S_T.flat().every((slack) => slack === 0)) return overTasks(input)
  const cells = nSeeds * nTasks
  const rowSlack = slack_S_T.map((row) => row.reduce((sum, slack) => sum + slack, 0) / nTasks)
  const spread = largest(anova.seed.value, nTasks * sumOfSquares(rowSlack), anova.seed.df)
  const found: { rests: SeedError['rests']; meanSquare: number }[] = [{ rests: 'spread', meanSquare: spread }]
  if (anova.residual !== null) {
    const noise = largest(anova.residual.value, sumOfSquares(slack_S_T.flat()), anova.residual.df)
    found.push({ rests: 'luck', meanSquare: fQuantile(luck, anova.seed.df, anova.residual.df) * noise })
  }
  if (resolution !== null) found.push({ rests: 'resolution', meanSquare: resolution ** 2 / cells })
  const { rests, meanSquare } = found.reduce((most, one) => (one.meanSquare > most.meanSquare ? one : most))
  const standardError = Math.sqrt(meanSquare / cells)
  if (standardError <= rounding) return null
  return { standardError, df: anova.seed.df, grain: (resolution ?? 0) / (2 * cells), over: 'seeds', rests }
}

/** Error of the mean when tasks are a sample as well; of one seed, when tasks alone are one. Null where tasks cannot tell. */
export function overBoth(input: ErrorInput, seedError: SeedError | null, confidence: number): TableError | null {
  const { anova, nSeeds, nTasks } = input
  const { seed, task, residual } = anova
  if (seed === null) return overTasks(input)
  if (seedError === null || task === null || residual === null) return null
  if (seedError.over === 'tasks') return seedError
  const cells = nSeeds * nTasks
  const seedSquare = seedError.standardError ** 2 * cells
  const taskSquare = largestTaskSquare(input, task)
  const residualSquare = smallest(residual.value, sumOfSquares(input.slack_S_T.flat()), residual.df)
  const both = seedSquare + taskSquare - residualSquare
  const squares = seedSquare ** 2 / seed.df + taskSquare ** 2 / task.df + residualSquare ** 2 / residual.df
  // Where both is no more than either, the moments leave the other no variance of its own.
  const together = noMore(both, taskSquare) ? errorOf(taskSquare, task.df) : errorOf(both, both ** 2 / squares)
  const alone = errorOf(seedSquare, seed.df)
  if (noMore(both, seedSquare) && noMore(taskSquare, seedSquare)) return alone
  const isSpread = !noMore(seedSquare, fQuantile(evenOdds, seed.df, residual.df) * residualSquare)
  return isSpread && reachOf(alone) > reachOf(together) ? alone : together

  function errorOf(meanSquare: number, ownDf: number): TableError {
    return { standardError: Math.sqrt(meanSquare / cells), df: ownDf, grain: 0, over: 'both' }
  }

  function reachOf(error: TableError): number {
    return tMultiplier(confidence, error.df) * error.standardError
  }
}

// Sums of squares of whole numbers are often equal on paper: which of two rules holds must not hang on the order of a sum.
function noMore(a: number, b: number): boolean {
  return a <= b * (1 + 1e-9)
}

function overTasks(input: ErrorInput): SeedError | null {
  const { anova, nTasks, nSeeds, resolution, rounding } = input
  if (anova.task === null) return null
  const spread = Math.sqrt(largestTaskSquare(input, anova.task) / (nSeeds * nTasks))
  const flip = (resolution ?? 0) / nTasks
  const standardError = Math.max(spread, flip)
  if (standardError <= rounding) return null
  const rests = flip > spread ? 'resolution' : 'spread'
  return { standardError, df: anova.task.df, grain: flip / 2, over: 'tasks', rests }
}

function largestTaskSquare({ nSeeds, nTasks, slack_S_T }: ErrorInput, task: MeanSquare): number {
  const columnSlack = Array.from(
    { length: nTasks },
    (_, t) => slack_S_T.reduce((sum, row) => sum + (row[t] ?? 0), 0) / nSeeds,
  )
  return largest(task.value, nSeeds * sumOfSquares(columnSlack), task.df)
}

// sqrt(sum of squares) is a norm: moving the cells within their slack adds at most the norm of the slack, and takes away no more.
function smallest(meanSquare: number, slackSquares: number, df: number): number {
  return Math.max(0, Math.sqrt(meanSquare) - Math.sqrt(slackSquares / df)) ** 2
}

function largest(meanSquare: number, slackSquares: number, df: number): number {
  return (Math.sqrt(meanSquare) + Math.sqrt(slackSquares / df)) ** 2
}

function sumOfSquares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0)
}

// Fisher's F distribution: only its quantile is needed, as the line between luck and noise for a ratio of two variances.
/** The ratio that F with `df1` and `df2` degrees of freedom stays under with probability p. */
export function fQuantile(p: number, df1: number, df2: number): number {
  // With x = df1 F / (df1 F + df2): I_x(df1 / 2, df2 / 2) = p, so F = (df2 / df1) x / (1 - x).
  return (df2 / df1) * Math.exp(betaLogit(df1 / 2, df2 / 2, p))
}
