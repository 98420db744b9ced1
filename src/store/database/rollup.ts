// Sums of neighbouring points, kept beside them so that a chart of a million points reads a few thousand rows: buckets of 32
// steps, and of 32 times 32. A chart reads at most 32 rows for each point that it shows.
import type { PointRow, StepRange } from './database.ts'

export const FINE_STEPS = 32
export const COARSE_STEPS = 1024

/** Larger values count as this much in a mean: PostgreSQL calls a sum beyond the range of numbers an error. */
export const LARGEST_SUMMED = '1e290'

/** The ranges of steps that points, sorted by run, key and step, lie in; steps that share a bucket or touch make one range. */
export function rangesOf(points: readonly PointRow[]): StepRange[] {
  const ranges: { runIx: number; keyIx: number; first: number; last: number }[] = []
  for (const { runIx, keyIx, step } of points) {
    const open = ranges.at(-1)
    const continues = open !== undefined && open.runIx === runIx && open.keyIx === keyIx
    if (continues && bucketOf(step) - bucketOf(open.last) <= 1) open.last = step
    else ranges.push({ runIx, keyIx, first: step, last: step })
  }
  return ranges
}

function bucketOf(step: number): number {
  return Math.floor(step / FINE_STEPS)
}
