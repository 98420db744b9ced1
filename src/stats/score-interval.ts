// The interval of one arm's score on tasks like these: mean over a table of seeds and tasks, both by chance. A score between two bounds is
// taken as a share of the way from one to the other, and its interval by inverting the score test (Wilson 1927) at the number of
// independent right-or-wrong answers that would be as uncertain (Korn and Graubard 1998): it never leaves the bounds, and where every
// answer was right it is as wide as so many tasks leave it.
import type { MetricRange } from '../contracts/index.ts'
import { crossedAnova, overBoth, overSeeds, type TableError } from './crossed-anova.ts'
import { type Interval, meanOf, requireFraction } from './moments.ts'
import { normalQuantile } from './normal-distribution.ts'
import { type ArmScores, fillMissing, pairScores } from './pair-scores.ts'
import { tMultiplier } from './student-t.ts'

export interface ScoreInterval extends Interval {
  /** Which chance it holds: of seeds and tasks; of tasks alone, with one seed or seeds that are all alike; of seeds alone. */
  readonly over: TableError['over']
}

/** Null where nothing is known of chance: one seed without scores of tasks, or no variation of a score without bounds. */
export function scoreInterval(
  scores: ArmScores,
  { confidence, range }: { confidence: number; range?: Readonly<MetricRange> | undefined },
): ScoreInterval | null {
  requireFraction(confidence, 'confidence')
  const zeros = { ...scores, cells_S_T: scores.cells_S_T.map((row) => row.map(() => 0)) }
  const table = pairScores(scores, zeros)
  const { seeds, tasks, differences_S_T, slack_S_T, rounding } = table
  const values_S_T = fillMissing(differences_S_T)
  const anova = crossedAnova(values_S_T, table.missing)
  const [first = []] = values_S_T
  const slackAt = (s: number, t: number) => slack_S_T[s]?.[t] ?? 0
  const input = {
    anova,
    nSeeds: seeds.length,
    nTasks: tasks.length,
    identical: values_S_T.every((row, s) =>
      row.every((value, t) => Math.abs(value - (first[t] ?? value)) <= rounding + slackAt(s, t) + slackAt(0, t)),
    ),
    resolution: null, // the score test has its own floor
    rounding,
    slack_S_T,
    confidence,
  }
  const seedError = overSeeds(input)
  const hasTasks = scores.tasks !== undefined && tasks.length > 1
  const error = hasTasks ? overBoth(input, seedError) : seedError
  const unknown = meanOf(
    slack_S_T.map((row) => meanOf(row, 0)),
    0,
  )
  const [least, most] = range ?? [null, null]
  if (least !== null && most !== null && hasTasks) {
    const over = error?.over ?? (seeds.length > 1 ? 'both' : 'tasks')
    const bounds = scoreTest({ mean: anova.mean, unknown, error, nTasks: tasks.length, least, most, confidence })
    return { ...bounds, confidence, over }
  }
  if (error === null) return null
  const reach = unknown + tMultiplier(confidence, error.df) * error.standardError
  return {
    lower: Math.max(least ?? Number.NEGATIVE_INFINITY, anova.mean - reach),
    upper: Math.min(most ?? Number.POSITIVE_INFINITY, anova.mean + reach),
    confidence,
    over: error.over,
  }
}

/** How far apart two scores can be. */
export function widthOf([least, most]: Readonly<MetricRange>): number {
  return least === null || most === null ? Number.POSITIVE_INFINITY : most - least
}

interface ScoreTest {
  readonly mean: number
  readonly unknown: number
  readonly error: TableError | null
  readonly nTasks: number
  readonly least: number
  readonly most: number
  readonly confidence: number
}

function scoreTest({ mean, unknown, error, nTasks, least, most, confidence }: ScoreTest) {
  const width = most - least
  const shareOf = (value: number) => Math.min(1, Math.max(0, (value - least) / width))
  const share = shareOf(mean)
  const variance = error === null ? 0 : (error.standardError / width) ** 2
  // Tasks that all agree show no spread: then each of them counts once, and there is no spread to be uncertain of.
  const isEven = error === null || variance === 0
  const trials = isEven ? nTasks : Math.max(1, (share * (1 - share)) / variance)
  const t = isEven ? normalQuantile((1 + confidence) / 2) : tMultiplier(confidence, error.df)
  const ends = [shareOf(mean - unknown), shareOf(mean + unknown)].map((x) => {
    const spread = t * Math.sqrt((x * (1 - x) + (t * t) / (4 * trials)) / trials)
    const middle = x + (t * t) / (2 * trials)
    const scale = 1 + (t * t) / trials
    // The ends are exactly 0 and 1 on paper; rounding must not push them past.
    return [x === 0 ? 0 : (middle - spread) / scale, x === 1 ? 1 : (middle + spread) / scale] as const
  })
  return { lower: least + width * (ends[0]?.[0] ?? 0), upper: least + width * (ends[1]?.[1] ?? 1) }
}
