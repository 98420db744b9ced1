// Curves for charts: thinned in the database, so that a run of a million points costs a screen's worth of rows.
import { sql } from 'kysely'
import type { CurvePoint } from '../contracts/index.ts'
import type { Database } from './database/database.ts'
import { COARSE_STEPS, FINE_STEPS, LARGEST_SUMMED } from './database/rollup.ts'

interface Bucket {
  readonly step: number
  readonly low: number
  readonly high: number
  readonly total: number
  readonly n: number
}

/** At most `maxPoints` buckets over the steps of a metric; peaks survive as min and max. */
export async function readCurve(
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
  // The ends of the index, and not min and max: for a run newer than its statistics PostgreSQL would read all points for those.
  const steps = sql`select step from point where run_ix = ${of.run} and key_ix = ${of.key} order by step`
  const ends = await sql<{ first: number | null; last: number | null }>`
    select (${steps} limit 1) as first, (${steps} desc limit 1) as last`.execute(database.query)
  const { first, last } = ends.rows[0] ?? {}
  if (first === null || first === undefined || last === null || last === undefined) return []
  const buckets = await readBuckets(database, of, bucketing(first, last, Math.max(1, Math.floor(maxPoints))))
  return buckets.map(({ step, low, high, total, n }) => {
    return { step, min: low, max: high, mean: Math.min(high, Math.max(low, total / n)) }
  })
}

interface Bucketing {
  /** Steps that one row stands for: those of a rollup, or 1 for the points themselves. */
  readonly grain: number
  readonly origin: number
  readonly width: number
}

function bucketing(first: number, last: number, most: number): Bucketing {
  const wanted = Math.ceil((last - first + 1) / most)
  // A grain of up to twice the width leaves at least half of the buckets that were asked for.
  const grain = [COARSE_STEPS, FINE_STEPS].find((width) => width <= 2 * wanted) ?? 1
  const origin = first - (first % grain)
  const width = Math.ceil((last - origin + 1) / most / grain) * grain
  return { grain, origin, width }
}

// The casts are for SQLite, whose drivers bind every number as a double, and halves would be buckets of their own.
async function readBuckets(
  { query, kind }: Database,
  of: { run: number; key: number },
  { grain, origin, width }: Bucketing,
): Promise<Bucket[]> {
  const bucket = (step: string) => sql`(${sql.ref(step)} - cast(${origin} as bigint)) / cast(${width} as bigint)`
  const [least, greatest] = kind === 'sqlite' ? ['min', 'max'] : ['least', 'greatest']
  const bounded = sql.raw(`${greatest}(${least}(value, ${LARGEST_SUMMED}), -${LARGEST_SUMMED})`)
  const read =
    grain === 1
      ? sql<Bucket>`select min(step) as step, min(value) as low, max(value) as high, sum(${bounded}) as total, count(*) as n
          from point where run_ix = ${of.run} and key_ix = ${of.key} group by ${bucket('step')} order by 1`
      : sql<Bucket>`select min(first_step) as step, min(low) as low, max(high) as high, sum(total) as total, sum(n) as n
          from point_rollup where run_ix = ${of.run} and key_ix = ${of.key} and width = ${grain}
          group by ${bucket('first_step')} order by 1`
  return (await read.execute(query)).rows
}

export async function readMetricKeys({ query }: Database, runId: string): Promise<string[]> {
  const rows = await query
    .selectFrom('run')
    .innerJoin('point_rollup', 'point_rollup.run_ix', 'run.ix')
    .innerJoin('metric_key', 'metric_key.ix', 'point_rollup.key_ix')
    .select('metric_key.name')
    .distinct()
    .where('run.id', '=', runId)
    .where('point_rollup.width', '=', COARSE_STEPS)
    .orderBy('metric_key.name')
    .execute()
  return rows.map((row) => row.name)
}
