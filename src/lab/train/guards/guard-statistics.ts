// Statistics of noisy metrics over windows of steps. What one strange step says never decides.

/** Steps of a window: the start of a run, and the steps that are compared with it. */
export const WINDOW = 8

/** How many standard errors two windows have to be apart. Every step is a comparison, so it is far out. */
const STANDARD_ERRORS = 5

/** Mean of the middle half: a quarter of the window may be anything at either end. */
export function midmean(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const cut = Math.floor(sorted.length / 4)
  const middle = sorted.slice(cut, sorted.length - cut)
  return middle.reduce((sum, value) => sum + value, 0) / Math.max(1, middle.length)
}

/**
 * By how much the means of two windows differ without a reason. The noise of a series is taken from its changes step by step, so that
 * a trend is not noise: the mean |difference| of independent normal values is 2 / sqrt(pi) of their deviation.
 */
export function chanceDifference(values: readonly number[]): number {
  const changes = values.slice(1).map((value, i) => Math.abs(value - (values[i] ?? value)))
  const mean = changes.reduce((sum, change) => sum + change, 0) / Math.max(1, changes.length)
  const deviation = (mean * Math.sqrt(Math.PI)) / 2
  return STANDARD_ERRORS * deviation * Math.sqrt(2 / WINDOW)
}

/** A number in a sentence. */
export function shown(value: number): string {
  return String(Number(value.toPrecision(3)))
}
