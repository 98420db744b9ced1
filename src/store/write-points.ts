// Metric points into rows. A later point of the same key and step replaces an earlier one, also within one batch.
import type { PointBatch } from '../contracts/index.ts'
import { checkPoints } from './check-points.ts'
import type { Database, PointRow, Queryable } from './database.ts'
import type { PointNumbers } from './point-numbers.ts'
import { rangesOf } from './rollup.ts'

/** The rows of a batch, before the transaction that writes them. */
export async function numberPoints(numbers: PointNumbers, batch: PointBatch): Promise<PointRow[]> {
  checkPoints(batch)
  const runIx = await numbers.ofRun(batch.run_id)
  const keys = await numbers.ofKeys(new Set(batch.key))
  return batch.key.map((key, i) => ({
    runIx,
    keyIx: keys.get(key) ?? -1,
    step: batch.step[i] ?? 0,
    value: (batch.value[i] ?? 0) + 0, // -0 is 0, which is all that JSON and SQLite know
    atMs: batch.at_ms[i] ?? 0,
  }))
}

/** Writes rows inside the caller's transaction, those that came later over those that came earlier. */
export async function writePoints(database: Database, query: Queryable, points: readonly PointRow[]): Promise<void> {
  if (points.length === 0) return
  const sorted = isSorted(points) ? points : lastOfEach([...points].sort(byPlace))
  await database.upsertPoints(query, sorted)
  await database.rollUp(query, rangesOf(sorted))
}

function byPlace(a: PointRow, b: PointRow): number {
  return a.runIx - b.runIx || a.keyIx - b.keyIx || a.step - b.step
}

function isSorted(points: readonly PointRow[]): boolean {
  for (let i = 1; i < points.length; i++) {
    const [before, point] = [points[i - 1], points[i]]
    if (before !== undefined && point !== undefined && byPlace(before, point) >= 0) return false
  }
  return true
}

// Sorting is stable: of points in one place the last one came last.
function lastOfEach(sorted: readonly PointRow[]): PointRow[] {
  return sorted.filter((point, i) => {
    const next = sorted[i + 1]
    return next === undefined || byPlace(point, next) !== 0
  })
}
