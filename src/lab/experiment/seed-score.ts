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

export function seedScore(seeds: readonly SeedValue[]): Score {
  const values = seeds.map(({ value }) => value)
  const interval =
    values.length > 1 && new Set(values).size === 1 ? agreed(seeds) : tInterval(values, CONFIDENCE).interval
  return {
    mean: moments(values).mean,
    ci: interval === null ? null : [interval.lower, interval.upper],
    n: values.length,
  }
}

// Seeds that all score the same show no spread, which is not certainty. What is left is that the tasks are a sample: of right
// and wrong answers an interval of their share is known, counting each task once. Of other scores nothing is known.
function agreed([first]: readonly SeedValue[]) {
  if (first?.selected.rewards === undefined) return null
  const rewards = Object.values(first.selected.rewards).flat()
  const nTasks = Object.keys(first.selected.rewards).length
  const nRight = Math.round(first.value * nTasks)
  const isShare =
    rewards.every((reward) => reward === 0 || reward === 1) && Math.abs(first.value * nTasks - nRight) < 1e-9
  return isShare && nTasks > 0 && nRight >= 0 && nRight <= nTasks ? wilson(nRight, nTasks, CONFIDENCE) : null
}
