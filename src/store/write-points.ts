// Metric points into rows. A later point of the same key and step replaces an earlier one, also within one batch.
import type { PointBatch } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database, PointRow, Queryable } from './database/database.ts'
import { rangesOf } from './database/rollup.ts'
import { checkedName } from './database/stored-values.ts'

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

// Points before they enter the record. Types are no proof: items come from workers and other machines.
function checkPoints({ run_id, key, step, value, at_ms }: PointBatch): void {
  const n = key.length
  if (step.length !== n || value.length !== n || at_ms.length !== n) throw badPoint(run_id, 'columns differ in length')
  let last: string | undefined
  for (let i = 0; i < n; i++) {
    const name = key[i] ?? ''
    if (name !== last) last = checkedName('metric name', name)
    if (!isCount(step[i])) throw badPoint(run_id, `"${name}" at step ${step[i]}: a step is a whole number from 0 on`)
    if (!Number.isFinite(value[i])) throw badPoint(run_id, `"${name}" at step ${step[i]} is ${value[i]}`)
    if (!isCount(at_ms[i])) throw badPoint(run_id, `"${name}" at step ${step[i]} has the time ${at_ms[i]}`)
  }
}

function isCount(value: number | undefined): boolean {
  return Number.isSafeInteger(value) && (value ?? -1) >= 0
}

function badPoint(runId: string, what: string): EvsysError {
  return new EvsysError('DATA_INVALID', `metrics of run ${runId}: ${what}`, {
    fix: 'report finite numbers only; a loss that is no number is for the guard, not for the record.',
  })
}

// Small numbers for run ids and metric names, so that a point is five numbers. They are given outside of transactions, in
// sorted order: a number once read stays valid whatever is rolled back, and two processes never wait for each other in a circle.
export interface PointNumbers {
  /** Number of a run that is in the record. */
  ofRun(runId: string): Promise<number>
  /** Numbers of metric names; new ones are added. */
  ofKeys(names: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>
}

const MOST_KEPT = 20_000
const NAMES_AT_ONCE = 500

export function createPointNumbers(database: Database): PointNumbers {
  const runs = new Map<string, number>()
  const keys = new Map<string, number>()
  return {
    async ofRun(runId) {
      const known = runs.get(runId)
      if (known !== undefined) return known
      const row = await database.query.selectFrom('run').select('ix').where('id', '=', runId).executeTakeFirst()
      if (row === undefined) throw new EvsysError('STORE_MISSING', `the record has no run ${runId}`)
      if (runs.size >= MOST_KEPT) runs.clear()
      runs.set(runId, row.ix)
      return row.ix
    },
    async ofKeys(names) {
      const missing = [...names].filter((name) => !keys.has(name))
      if (missing.length === 0) return keys
      const found = await lookUp(database, missing.sort())
      for (const name of names) found.set(name, found.get(name) ?? keys.get(name) ?? -1)
      if (keys.size + found.size > MOST_KEPT) keys.clear()
      for (const [name, ix] of found) keys.set(name, ix)
      return found
    },
  }
}

async function lookUp(database: Database, names: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (let start = 0; start < names.length; start += NAMES_AT_ONCE) {
    const some = names.slice(start, start + NAMES_AT_ONCE)
    const read = () => database.query.selectFrom('metric_key').selectAll().where('name', 'in', some).execute()
    let rows = await read()
    if (rows.length < some.length) {
      await database.query
        .insertInto('metric_key')
        .values(some.map((name) => ({ name })))
        .onConflict((conflict) => conflict.column('name').doNothing())
        .execute()
      rows = await read()
    }
    for (const { name, ix } of rows) found.set(name, ix)
  }
  return found
}
