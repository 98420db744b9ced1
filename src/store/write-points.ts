// Metric points into rows. Names and run ids become small numbers once; a later point of the same key and step wins.
import type { PointBatch } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database, PointRow, Queryable } from './database.ts'

/** Writes a batch inside the caller's transaction. */
export async function writePoints(database: Database, query: Queryable, batch: PointBatch): Promise<void> {
  if (batch.key.length === 0) return
  const runIx = await runNumber(query, batch.run_id)
  const keys = await keyNumbers(query, new Set(batch.key))
  const rows: PointRow[] = batch.key.map((key, i) => ({
    runIx,
    keyIx: keys.get(key) ?? -1,
    step: batch.step[i] ?? 0,
    value: batch.value[i] ?? 0,
    atMs: batch.at_ms[i] ?? 0,
  }))
  await database.upsertPoints(query, rows)
}

export async function runNumber(query: Queryable, runId: string): Promise<number> {
  const row = await query.selectFrom('run').select('ix').where('id', '=', runId).executeTakeFirst()
  if (row === undefined) throw new EvsysError('STORE_MISSING', `the record has no run ${runId}`)
  return row.ix
}

async function keyNumbers(query: Queryable, names: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
  const wanted = [...names]
  const known = await query.selectFrom('metric_key').selectAll().where('name', 'in', wanted).execute()
  if (known.length === wanted.length) return new Map(known.map((row) => [row.name, row.ix]))
  await query
    .insertInto('metric_key')
    .values(wanted.map((name) => ({ name })))
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
  const all = await query.selectFrom('metric_key').selectAll().where('name', 'in', wanted).execute()
  return new Map(all.map((row) => [row.name, row.ix]))
}
