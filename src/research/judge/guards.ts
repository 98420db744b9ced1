// Metrics that must not get worse: memory, time, a second score. A guard compares shared seeds and allows the tolerance that the task
// states; what goes beyond it must be more than noise. A guarded metric that a candidate does not report is never read as fine.

import type { Direction, Race, SeedScore } from '../../contracts/index.ts'
import { meanOf } from './mean-of.ts'
import { gainOf } from './pair-gains.ts'

/** Standard errors beyond the tolerance that make a loss more than noise. */
const limit = 2

/** Why the candidate may not be kept; undefined when every guard holds. */
export function brokenGuard(race: Pick<Race, 'candidate' | 'incumbent' | 'secondary'>): string | undefined {
  for (const guard of race.secondary) {
    const broken = brokenBy(guard, race)
    if (broken !== undefined) return broken
  }
  return undefined
}

interface Guard {
  readonly metric: string
  readonly direction: Direction
  readonly tolerance: number
}

function brokenBy(guard: Guard, race: Pick<Race, 'candidate' | 'incumbent'>): string | undefined {
  const { metric, direction, tolerance } = guard
  const before = valuesOf(metric, race.incumbent)
  // Nothing to compare with: the task does not measure it yet.
  if (before.size === 0) return undefined
  const after = valuesOf(metric, race.candidate)
  if (after.size < new Set(race.candidate.map(({ seed }) => seed)).size) return `${metric} is missing`
  const shared = [...after].flatMap(([seed, value]) => {
    const old = before.get(seed)
    return old === undefined ? [] : [{ old, value }]
  })
  if (shared.length === 0) return undefined
  const excess = meanOf(shared.map(({ old, value }) => -gainOf(direction, value, old) - tolerance * Math.abs(old)))
  const error = spreadOf([...before.values()], [...after.values()]) * Math.sqrt(2 / shared.length)
  if (!(excess > limit * error && excess > 0)) return undefined
  const old = meanOf(shared.map((pair) => pair.old))
  const change = meanOf(shared.map((pair) => pair.value)) - old
  const told = old === 0 ? change.toPrecision(2) : `${((100 * change) / Math.abs(old)).toFixed(1)} %`
  return `${metric} changed by ${change > 0 ? '+' : ''}${told}, ${(100 * tolerance).toFixed(1)} % is allowed`
}

function valuesOf(metric: string, scores: readonly SeedScore[]): Map<number, number> {
  const values = new Map<number, number>()
  for (const { seed, secondary } of scores) {
    const value = secondary[metric]
    if (value !== undefined && Number.isFinite(value) && !values.has(seed)) values.set(seed, value)
  }
  return values
}

// Spread over seeds within each of the two: one race has too few pairs to know the spread of its differences.
function spreadOf(...groups: readonly (readonly number[])[]): number {
  let squares = 0
  let df = 0
  for (const group of groups) {
    const mean = meanOf(group)
    squares += group.reduce((sum, value) => sum + (value - mean) ** 2, 0)
    df += Math.max(0, group.length - 1)
  }
  return df === 0 ? 0 : Math.sqrt(squares / df)
}
