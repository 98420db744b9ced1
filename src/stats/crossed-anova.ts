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
// - on these very tasks (seeds by chance alone): `overSeeds`, over seed means. It is the detail, and lies within the former.
//
// Few seeds of a coarse metric can agree by luck, and an interval of no width would then "prove" anything. So:
// - grain: the mean of S x T scores moves in steps of resolution / (S T); the interval reaches half a step further on each side
//   (Yates' 1934 continuity correction), unless many cells show the noise: where tasks are drawn as well, or seeds are pooled with cells.
// - resolution: the spread is not taken below what one flip of one score, by its smallest step, would show.
// - pooled: where seeds differ by no more than noise of single cells makes them differ in 55 of 100 experiments, both are taken for that
//   noise and pooled (Paull 1950), which has many more degrees of freedom. Else the spread of seeds is taken as it is. At this line a 90 %
//   interval covers 87.6 to 94.5 % whatever the variance of seeds, at two seeds; at more of them the range is narrower.
// When every seed gave the very same table, n seeds are one observation and only the tasks are left to vary: then the interval is over
// tasks, and with one task, or none that differ, there is none.
//
// Tasks add to the chance of seeds and take none of it away, so `overBoth` is never narrower than `overSeeds`: where Satterthwaite's sum,
// which takes the spread of two or three seeds at its word, comes out so, the latter holds.
//
// Lost scores: the differences may be anything within their slack. Errors are those of the widest interval that any filling gives.
export const poolingOdds = 0.55

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
  readonly rests: 'spread' | 'pooled' | 'resolution'
}

interface ErrorInput {
  readonly anova: CrossedAnova
  readonly nSeeds: number
  readonly nTasks: number
  /** Every seed may have given the same differences, task by task, up to rounding. */
  readonly identical: boolean
  /** Smallest step that the score of one cell can take; null when unknown. */
  readonly resolution: number | null
  /** A spread no larger than this is rounding. */
  readonly rounding: number
  /** Half-widths of what each difference may be. Lost scores may hide spread, or make it. */
  readonly slack_S_T: readonly (readonly number[])[]
  /** Where several errors are possible, the widest interval at this confidence counts. */
  readonly confidence: number
}

/** Error of the mean with tasks as they are; null when nothing is known of it. */
export function overSeeds(input: ErrorInput): SeedError | null {
  const { anova, nSeeds, nTasks, identical, resolution, rounding, confidence } = input
  if (anova.seed === null) return null
  const alike = identical ? overTasks(input) : null
  if (identical && !isOpen(input)) return alike
  const cells = nSeeds * nTasks
  const { seed, residual } = squaresOf(input)
  const floor = resolution === null ? 0 : resolution ** 2 / cells
  const found: SeedError[] = []
  const add = (rests: SeedError['rests'], meanSquare: number, df: number) => {
    const standardError = Math.sqrt(Math.max(meanSquare, floor) / cells)
    if (standardError <= rounding) return
    const basis = meanSquare < floor ? 'resolution' : rests
    const grain = basis === 'pooled' ? 0 : (resolution ?? 0) / (2 * cells)
    found.push({ standardError, df, grain, over: 'seeds', rests: basis })
  }
  const line = residual === null ? 0 : fQuantile(poolingOdds, seed.df, residual.df)
  if (residual === null || !noMore(seed.most, line * residual.least)) add('spread', seed.most, seed.df)
  if (residual !== null && noMore(seed.least, line * residual.most)) {
    const df = seed.df + residual.df
    const ofSeeds = Math.min(seed.most, line * residual.most)
    add('pooled', (seed.df * ofSeeds + residual.df * residual.most) / df, df)
  }
  return widest([...found, ...(alike === null ? [] : [alike])], confidence)
}

/** Error of the mean when tasks are a sample as well; of one seed, when tasks alone are one. Null where tasks cannot tell. */
export function overBoth(input: ErrorInput, seedError: SeedError | null): TableError | null {
  const { anova, nSeeds, nTasks, confidence } = input
  if (anova.seed === null) return overTasks(input)
  if (seedError === null || anova.task === null || anova.residual === null) return null
  if (seedError.over === 'tasks' && !isOpen(input)) return seedError
  const cells = nSeeds * nTasks
  const { seed, task, residual } = squaresOf(input)
  if (task === null || residual === null) return null
  const ofSeeds = seedError.over === 'seeds' ? seedError.standardError ** 2 * cells : 0
  const seeds = isOpen(input)
    ? { ...seed, most: Math.max(seed.most, ofSeeds) }
    : { least: ofSeeds, most: ofSeeds, df: seedError.df }
  const both = seeds.most + task.most - residual.least
  const tasksAlone = errorOf(task.most, task.df)
  const possible: TableError[] = [{ ...seedError, over: 'both' }]
  // Where both is no more than either, the moments leave the other no variance of its own.
  if (noMore(both, task.most) || isOpen(input)) possible.push(tasksAlone)
  if (!noMore(both, task.most) && !noMore(both, seeds.most)) {
    possible.push(errorOf(both, satterthwaite(seeds, task, residual, isOpen(input))))
  }
  return widest(possible, confidence)

  function errorOf(meanSquare: number, df: number): TableError {
    return { standardError: Math.sqrt(meanSquare / cells), df, grain: 0, over: 'both' }
  }
}

interface Square {
  /** A mean square at its smallest and largest: equal unless scores were lost. */
  readonly least: number
  readonly most: number
  readonly df: number
}

/** Degrees of freedom of seed + task - residual; with lost scores, no more than any filling that the bounds allow would give. */
function satterthwaite(seed: Square, task: Square, residual: Square, isOpen: boolean): number {
  const parts = (part: Square, square: number) => square ** 2 / part.df
  if (!isOpen) {
    const sum = parts(seed, seed.most) + parts(task, task.most) + parts(residual, residual.most)
    return (seed.most + task.most - residual.most) ** 2 / sum
  }
  // Where neither is all of it, both is more than either, the residual less than either, and 1 / df at most the sum of all 1 / df.
  const least = Math.max(seed.least + task.least - residual.most, seed.least, task.least)
  const within = Math.min(residual.most, seed.most, task.most)
  const sum = parts(seed, seed.most) + parts(task, task.most) + parts(residual, within)
  return Math.max(least ** 2 / sum, 1 / (1 / seed.df + 1 / task.df + 1 / residual.df))
}

function widest<E extends TableError>(errors: readonly E[], confidence: number): E | null {
  const reachOf = ({ df, standardError, grain }: E) => grain + tMultiplier(confidence, df) * standardError
  return errors.reduce<E | null>((most, each) => (most === null || reachOf(each) > reachOf(most) ? each : most), null)
}

// Sums of squares of whole numbers are often equal on paper: which of two rules holds must not hang on the order of a sum.
function noMore(a: number, b: number): boolean {
  return a <= b * (1 + 1e-9)
}

function isOpen({ slack_S_T }: ErrorInput): boolean {
  return slack_S_T.some((row) => row.some((slack) => slack > 0))
}

function overTasks(input: ErrorInput): SeedError | null {
  const { nTasks, nSeeds, resolution, rounding } = input
  const { task } = squaresOf(input)
  if (task === null) return null
  const spread = Math.sqrt(task.most / (nSeeds * nTasks))
  const flip = (resolution ?? 0) / nTasks
  const standardError = Math.max(spread, flip)
  if (standardError <= rounding) return null
  const rests = flip > spread ? 'resolution' : 'spread'
  return { standardError, df: task.df, grain: flip / 2, over: 'tasks', rests }
}

/** What the mean squares may be. */
function squaresOf({ anova, nSeeds, nTasks, slack_S_T }: ErrorInput) {
  const rowSlack = slack_S_T.map((row) => row.reduce((sum, slack) => sum + slack, 0) / nTasks)
  const columnSlack = Array.from(
    { length: nTasks },
    (_, t) => slack_S_T.reduce((sum, row) => sum + (row[t] ?? 0), 0) / nSeeds,
  )
  const within = ({ value, df }: MeanSquare, slackSquares: number): Square => ({
    least: smallest(value, slackSquares, df),
    most: largest(value, slackSquares, df),
    df,
  })
  return {
    seed: within(anova.seed ?? { value: 0, df: 1 }, nTasks * sumOfSquares(rowSlack)),
    task: anova.task && within(anova.task, nSeeds * sumOfSquares(columnSlack)),
    residual: anova.residual && within(anova.residual, sumOfSquares(slack_S_T.flat())),
  }
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

// Fisher's F distribution: only its quantile is needed, as the line up to which two variances are pooled.
/** The ratio that F with `df1` and `df2` degrees of freedom stays under with probability p. */
export function fQuantile(p: number, df1: number, df2: number): number {
  // With x = df1 F / (df1 F + df2): I_x(df1 / 2, df2 / 2) = p, so F = (df2 / df1) x / (1 - x).
  return (df2 / df1) * Math.exp(betaLogit(df1 / 2, df2 / 2, p))
}
