// What a guard found, and the two windows that it compares.
import { midmean, WINDOW } from './guard-statistics.ts'

export interface Finding {
  /** First step of those that show it: what was saved before is from before. */
  readonly since: number
  /** With the numbers. */
  readonly text: string
}

type Series = readonly { readonly step: number; readonly value: number }[]

export interface Windows {
  /** Of the first steps of the run. */
  readonly start: number
  /** Of the last ones. */
  readonly now: number
  readonly since: number
  readonly values: readonly number[]
}

/** Undefined: there are not yet two windows. */
export function windowsOf(series: Series): Windows | undefined {
  const values = series.map(({ value }) => value)
  const since = series.at(-WINDOW)?.step
  if (series.length < 2 * WINDOW || since === undefined) return undefined
  return { start: midmean(values.slice(0, WINDOW)), now: midmean(values.slice(-WINDOW)), since, values }
}
