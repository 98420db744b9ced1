// Quantities with units, as people write them (`30m`, `1h30m`, 90; parsed once, in seconds inside), and named numbers.
import * as z from 'zod'

// Milliseconds, since a thousandth has no exact value: 9 ms is 9 / 1000, not 9 * 0.001.
const MILLISECONDS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/

/** Seconds as a number, or text such as `90s`, `30m`, `1h30m`, `2d`. */
export const Duration = z
  .union([
    z.number().positive(),
    z
      .string()
      .regex(DURATION, { error: 'a duration is seconds, or text such as 90s, 30m, 1h30m, 2d', abort: true })
      .refine((text) => textSeconds(text) > 0, 'a duration is longer than nothing')
      .refine((text) => Number.isFinite(textSeconds(text)), 'a duration has an end'),
  ])
  .describe('Seconds, or text such as `90s`, `30m`, `1h30m`, `2d`.')
export type Duration = z.infer<typeof Duration>

/** Length of a valid Duration in seconds. */
export function durationSeconds(duration: Duration): number {
  return typeof duration === 'number' ? duration : textSeconds(duration)
}

function textSeconds(text: string): number {
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)) {
    total += Number(amount) * MILLISECONDS[unit as keyof typeof MILLISECONDS] // the pattern admits these units alone
  }
  return total / 1000
}

/** Caps on what an experiment, a run or a session may spend. Reaching one is a hard stop. */
export const Budget = z.strictObject({
  steps: z.int().positive().optional().describe('Training steps over all runs.'),
  tokens: z.int().positive().optional().describe('Tokens trained on, over all runs.'),
  usd: z
    .number()
    .positive()
    .optional()
    .describe(
      'US dollars for judges and other models, over all runs; refused on a backend that charges for training without reporting it.',
    ),
  wall: Duration.optional().describe('Wall-clock time of the whole experiment.'),
  gpu_seconds: z
    .number()
    .positive()
    .optional()
    .describe('Accelerator seconds over all runs; refused until a backend reports them.'),
})
export type Budget = z.infer<typeof Budget>

/** Named numbers, finite: a NaN loss is a guard event, not a point. */
export const Metrics = z.record(z.string(), z.number())
export type Metrics = z.infer<typeof Metrics>

/** What a metric could be at worst and at best while rewards are missing because infrastructure failed. */
export const Bounds = z.record(z.string(), z.tuple([z.number(), z.number()]))
export type Bounds = z.infer<typeof Bounds>

/**
 * What each task adds to a metric: metric -> task -> value, of which the mean over tasks is the score; a pair where missing rewards leave it
 * open. Tasks by the thousand stand together in groups.
 */
export const TaskScores = z.record(
  z.string(),
  z.record(z.string(), z.union([z.number(), z.tuple([z.number(), z.number()])])),
)
export type TaskScores = z.infer<typeof TaskScores>

/** The least and the most that a metric can be; null: without end on that side. */
export const MetricRange = z.tuple([z.number().nullable(), z.number().nullable()])
export type MetricRange = z.infer<typeof MetricRange>

export const MetricRanges = z.record(z.string(), MetricRange)
export type MetricRanges = z.infer<typeof MetricRanges>

/** With fewer tasks of a class, intervals of what is averaged over classes do not hold the truth as often as they say. */
export const fewestTasks = 3

/** A class of which there are too few tasks. */
export const ThinClass = z.strictObject({ label: z.string(), tasks: z.int().min(0) })
export type ThinClass = z.infer<typeof ThinClass>

/** By metric, the rarest class where it has fewer than `fewestTasks` tasks. */
export const ThinClasses = z.record(z.string(), ThinClass)
export type ThinClasses = z.infer<typeof ThinClasses>

/** A table that a metric gives beside its numbers: rows and columns by name; null where there is nothing to say. */
export const MetricTable = z.strictObject({
  row_title: z.string().optional().describe('What the rows are: expected.'),
  column_title: z.string().optional().describe('What the columns are: answered.'),
  rows: z.array(z.string()),
  columns: z.array(z.string()),
  cells: z.array(z.array(z.number().nullable())).describe('By row, then column.'),
})
export type MetricTable = z.infer<typeof MetricTable>

/** Tables by the name of the metric. */
export const MetricTables = z.record(z.string(), MetricTable)
export type MetricTables = z.infer<typeof MetricTables>
