// The score of an arm: mean over its seeds, with an interval.
import type { Score } from '../../contracts/index.ts'
import { moments, tInterval, wilson } from '../../stats/index.ts'
import type { EvalRow } from '../../store/index.ts'

/** Coverage of the intervals that scores carry. */
export const CONFIDENCE = 0.9

export interface SeedValue {
  readonly value: number
  readonly selected: EvalRow
}

export function seedScore(seeds: readonly SeedValue[], metric: string): Score {
  const values = seeds.map(({ value }) => value)
  const interval =
    values.length > 1 && new Set(values).size === 1 ? agreed(seeds) : tInterval(values, CONFIDENCE).interval
  const [least, most] = isShare(metric) ? [0, 1] : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return {
    mean: moments(values).mean,
    ci: interval === null ? null : [Math.max(interval.lower, least), Math.min(interval.upper, most)],
    n: values.length,
  }
}

// What such a metric tells is a share of the tasks: an interval reaches no further than shares do.
function isShare(metric: string): boolean {
  return /^(pass_rate|(pass|majority)[@^]\d+)(\[|$)/.test(metric)
}

// Seeds that all score the same show no spread, which is not certainty. What is left is that the tasks are a sample, each of
// which counts once: of right and wrong answers by their share, of other rewards by their mean, where the score is that mean.
function agreed([first]: readonly SeedValue[]) {
  const tasks = Object.values(first?.selected.rewards ?? {})
  const score = first?.value ?? Number.NaN
  if (tasks.length === 0) return null
  if (score >= 0 && score <= 1 && tasks.flat().every((reward) => reward === 0 || reward === 1 || reward === null)) {
    // Several answers may make a task right in part; one without a reward may be either.
    const open = tasks.filter((rewards) => rewards.includes(null)).length
    const rounded = (right: number) => Number(right.toFixed(9))
    const fewest = Math.floor(rounded(score * (tasks.length - open)))
    const most = Math.min(tasks.length, Math.ceil(rounded(score * tasks.length)) + open)
    return {
      lower: wilson(fewest, tasks.length, CONFIDENCE).lower,
      upper: wilson(most, tasks.length, CONFIDENCE).upper,
    }
  }
  const means = tasks.map((rewards) => moments(rewards.map((reward) => reward ?? 0)).mean)
  const { estimate, standardError, interval } = tInterval(means, CONFIDENCE)
  return standardError !== 0 && Math.abs(estimate - score) < 1e-9 ? interval : null
}
