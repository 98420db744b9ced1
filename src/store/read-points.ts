// Curves for charts: thinned in the database, so that a run of a million points costs a screen's worth of rows.
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface CurvePoint {
  step: number
  min: number
  max: number
  mean: number
}

/** At most `maxPoints` buckets over the steps of a metric; peaks survive as min and max. */
export async function readPoints(
  database: Database,
  { runId, key, maxPoints }: { runId: string; key: string; maxPoints: number },
): Promise<CurvePoint[]> {
  const of = await database.query
    .selectFrom('run')
    .innerJoin('metric_key', (join) => join.on('metric_key.name', '=', key))
    .select(['run.ix as run', 'metric_key.ix as key'])
    .where('run.id', '=', runId)
    .executeTakeFirst()
  if (of === undefined) return []
  const range = await database.query
    .selectFrom('point')
    .select((expr) => [expr.fn.min('step').as('first'), expr.fn.max('step').as('last')])
    .where('run_ix', '=', of.run)
    .where('key_ix', '=', of.key)
    .executeTakeFirst()
  if (range === undefined || range.first === null) return []
  const width = Math.max(1, Math.ceil((range.last - range.first + 1) / Math.max(1, maxPoints)))
  const rows = await sql<CurvePoint>`
    select min(step) as step, min(value) as min, max(value) as max, avg(value) as mean from point
    where run_ix = ${of.run} and key_ix = ${of.key}
    group by (step - ${range.first}) / ${width} order by 1`.execute(database.query)
  return rows.rows
}
