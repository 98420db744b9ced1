// How uncertain the mean of a crossed table of paired differences is. Two questions, two answers:
// - on this benchmark (tasks as they are, seeds by chance): `overSeeds`, the t interval over seed means. It decides claims.
// - on tasks like these (both by chance): `overBoth`, with Satterthwaite's (1946) degrees of freedom. It is reported.
//
// Few seeds of a coarse metric can agree by luck, and an interval of no width would then "prove" anything. So:
// - grain: the mean of S x T scores moves in steps of resolution / (S T); the interval reaches half a step further on each side
//   (Yates' 1934 continuity correction).
// - resolution: the spread is not taken below what one flip of one score, by its smallest step, would show.
// - luck: nor below the line that it stays above in 19 of 20 experiments even when seeds add nothing to the noise of single tasks,
//   which the residual shows with many more degrees of freedom. (The residual itself as the floor would be safe too, but it would
//   widen every second interval, to a coverage of 99 % at three seeds.)
// When every seed gave the very same table, n seeds are one observation and only the tasks are left to vary: then the interval over
// tasks decides, and with one task, or none that differ, there is none.

import type { CrossedAnova } from './crossed-anova.ts'
import { fQuantile } from './f-quantile.ts'

const luck = 0.05

export interface EffectError {
  readonly standardError: number
  readonly df: number
  /** Half the step in which the mean can move. */
  readonly grain: number
}

export interface SeedError extends EffectError {
  readonly over: 'seeds' | 'tasks'
  /** What the width rests on: the spread that was seen, or a floor. */
  readonly rests: 'spread' | 'luck' | 'resolution'
}

export interface ErrorInput {
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
  if (identical && slack_S_T.flat().every((slack) => slack === 0)) return overIdenticalSeeds(input)
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

/** Error of the mean when tasks are a sample as well; null without two seeds and two tasks. */
export function overBoth(input: ErrorInput, seedError: SeedError | null): EffectError | null {
  const { anova, nSeeds, nTasks } = input
  const { seed, task, residual } = anova
  if (seedError === null || seed === null || task === null || residual === null) return null
  if (seedError.over === 'tasks') return seedError
  const { grain } = seedError
  const cells = nSeeds * nTasks
  const seedSquare = seedError.standardError ** 2 * cells
  const both = seedSquare + task.value - residual.value
  if (both <= Math.max(seedSquare, task.value)) {
    // The moments leave one of the two no variance of its own.
    return seedSquare >= task.value ? seedError : errorOf(task.value, task.df)
  }
  const df = both ** 2 / (seedSquare ** 2 / seed.df + task.value ** 2 / task.df + residual.value ** 2 / residual.df)
  return errorOf(both, df)

  function errorOf(meanSquare: number, df: number): EffectError {
    return { standardError: Math.sqrt(meanSquare / cells), df, grain }
  }
}

function overIdenticalSeeds({ anova, nTasks, nSeeds, resolution, rounding }: ErrorInput): SeedError | null {
  if (anova.task === null) return null
  const spread = Math.sqrt(anova.task.value / (nSeeds * nTasks))
  const flip = (resolution ?? 0) / nTasks
  const standardError = Math.max(spread, flip)
  if (standardError <= rounding) return null
  const rests = flip > spread ? 'resolution' : 'spread'
  return { standardError, df: anova.task.df, grain: flip / 2, over: 'tasks', rests }
}

// sqrt(sum of squares) is a norm: moving the cells within their slack adds at most the norm of the slack.
function largest(meanSquare: number, slackSquares: number, df: number): number {
  return (Math.sqrt(meanSquare) + Math.sqrt(slackSquares / df)) ** 2
}

function sumOfSquares(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value * value, 0)
}
