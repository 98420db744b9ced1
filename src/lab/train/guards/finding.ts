// What a guard found, and the windows of steps that it compares.
import type { Series, Watched } from './guard-row.ts'
import { midmean, WINDOW } from './guard-statistics.ts'

export interface Finding {
  /** First step of those that show it: what was saved before is from before. */
  readonly since: number
  /** With the numbers. */
  readonly text: string
}

/** The last values of a metric that the newest step has, all of them since the last roll-back; undefined: there are fewer. */
export function lastOf(series: Series, { rows, after }: Watched, count: number = WINDOW) {
  const last = series.slice(-count)
  const [first] = last
  const isNew = first !== undefined && first.step > after && last.at(-1)?.step === rows.at(-1)?.step
  if (!isNew || last.length < count) return undefined
  return { since: first.step, values: last.map(({ value }) => value) }
}

/** Two windows of a series. */
interface Windows {
  readonly series: Series
  /** Values of the first steps of the run. */
  readonly first: readonly number[]
  readonly start: number
  /** Of the last steps. */
  readonly now: number
  readonly since: number
  readonly values: readonly number[]
}

/** The first step of those at the end of a series that are all wrong, and of the window that shows it. */
export function beganAt(series: Series, since: number, isWrong: (value: number) => boolean): number {
  const lastRight = series.findLastIndex(({ value }) => !isWrong(value))
  return Math.min(since, series[lastRight + 1]?.step ?? since)
}

/** Undefined: there are not yet two windows. */
export function windowsOf(series: Series, watched: Watched): Windows | undefined {
  const last = lastOf(series, watched)
  if (series.length < 2 * WINDOW || last === undefined) return undefined
  const values = series.map(({ value }) => value)
  const first = values.slice(0, WINDOW)
  return { series, first, start: midmean(first), now: midmean(last.values), since: last.since, values }
}
