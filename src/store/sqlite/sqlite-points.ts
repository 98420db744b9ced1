// Writes metric points through prepared statements: 32 rows each, since binding is fast and calling is slow.
import type { Database, PointRow, StepRange } from '../database/database.ts'
import { COARSE_STEPS, FINE_STEPS, LARGEST_SUMMED } from '../database/rollup.ts'
import type { DatabaseSync } from './open-database.ts'

type Statement = ReturnType<DatabaseSync['prepare']>

const ROWS = 32

/** The two ways of writing that run on the one connection, inside whatever transaction the caller has open. */
export function sqlitePoints(database: DatabaseSync): Pick<Database, 'upsertPoints' | 'rollUp'> {
  let prepared: Record<'many' | 'one' | 'tiny' | 'fine' | 'coarse', Statement> | undefined
  // The tables are there only after migration.
  const statements = () => {
    prepared ??= {
      many: database.prepare(upsert(ROWS)),
      one: database.prepare(upsert(1)),
      tiny: database.prepare(upsert(1, '-?')),
      fine: database.prepare(fineRollup),
      coarse: database.prepare(coarseRollup),
    }
    return prepared
  }
  return {
    async upsertPoints(_query, points) {
      const { many, one, tiny } = statements()
      const plain = points.some(isTiny) ? points.filter((point) => !isTiny(point)) : points
      const whole = plain.length - (plain.length % ROWS)
      for (let start = 0; start < whole; start += ROWS) many.run(...valuesOf(plain, start, start + ROWS))
      for (let i = whole; i < plain.length; i++) one.run(...valuesOf(plain, i, i + 1))
      if (plain === points) return
      for (const { runIx, keyIx, step, value, atMs } of points.filter(isTiny))
        tiny.run(runIx, keyIx, step, -value, atMs)
    },
    async rollUp(_query, ranges) {
      const { fine, coarse } = statements()
      for (const range of ranges) fine.run(...alignedTo(FINE_STEPS, range))
      for (const range of ranges) coarse.run(...alignedTo(COARSE_STEPS, range))
    },
  }
}

// The packaged driver binds positive numbers below 2^-52 as 0, and their negatives as they are.
function isTiny({ value }: PointRow): boolean {
  return value > 0 && value < Number.EPSILON
}

function valuesOf(points: readonly PointRow[], from: number, to: number): number[] {
  const values: number[] = []
  for (let i = from; i < to; i++) {
    const point = points[i]
    if (point !== undefined) values.push(point.runIx, point.keyIx, point.step, point.value, point.atMs)
  }
  return values
}

function alignedTo(width: number, { runIx, keyIx, first, last }: StepRange): number[] {
  return [runIx, keyIx, first - (first % width), last - (last % width) + width - 1]
}

function upsert(rows: number, value = '?'): string {
  const row = `(?, ?, ?, ${value}, ?)`
  return `insert into point (run_ix, key_ix, step, value, at_ms) values ${Array(rows).fill(row).join(', ')}
    on conflict do update set value = excluded.value, at_ms = excluded.at_ms`
}

const rollup = 'insert into point_rollup (run_ix, key_ix, width, bucket, first_step, low, high, total, n)'
const replace = `on conflict do update set first_step = excluded.first_step, low = excluded.low, high = excluded.high,
  total = excluded.total, n = excluded.n`

const fineRollup = `${rollup}
  select run_ix, key_ix, ${FINE_STEPS}, step / ${FINE_STEPS}, min(step), min(value), max(value),
    sum(max(min(value, ${LARGEST_SUMMED}), -${LARGEST_SUMMED})), count(*)
  from point where run_ix = ? and key_ix = ? and step between ? and ? group by step / ${FINE_STEPS} ${replace}`

const coarseRollup = `${rollup}
  select run_ix, key_ix, ${COARSE_STEPS}, first_step / ${COARSE_STEPS}, min(first_step), min(low), max(high), sum(total), sum(n)
  from point_rollup where run_ix = ?1 and key_ix = ?2 and width = ${FINE_STEPS}
    and bucket between cast(?3 as bigint) / ${FINE_STEPS} and cast(?4 as bigint) / ${FINE_STEPS}
  group by first_step / ${COARSE_STEPS} ${replace}`
