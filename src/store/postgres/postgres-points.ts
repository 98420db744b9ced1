// Writes metric points as columns: five parameters instead of five thousand.
import { type RawBuilder, sql } from 'kysely'
import type { Database, StepRange } from '../database.ts'
import { COARSE_STEPS, FINE_STEPS, LARGEST_SUMMED } from '../rollup.ts'

export const postgresPoints: Pick<Database, 'upsertPoints' | 'rollUp'> = {
  async upsertPoints(query, points) {
    if (points.length === 0) return
    await sql`
      insert into point (run_ix, key_ix, step, value, at_ms)
      select * from unnest(${points.map((point) => point.runIx)}::bigint[], ${points.map((point) => point.keyIx)}::bigint[],
        ${points.map((point) => point.step)}::bigint[], ${points.map((point) => point.value)}::double precision[],
        ${points.map((point) => point.atMs)}::bigint[])
      on conflict (run_ix, key_ix, step) do update set value = excluded.value, at_ms = excluded.at_ms`.execute(query)
  },
  async rollUp(query, ranges) {
    if (ranges.length === 0) return
    const largest = sql.raw(LARGEST_SUMMED)
    const fine = sql.lit(FINE_STEPS)
    const coarse = sql.lit(COARSE_STEPS)
    await sql`
      ${rollup} select asked.run_ix, asked.key_ix, ${fine}, sums.* from ${asked(ranges, FINE_STEPS)} cross join lateral (
        select step / ${fine}, min(step), min(value), max(value),
          sum(greatest(least(value, ${largest}), -${largest})), count(*)
        from point where run_ix = asked.run_ix and key_ix = asked.key_ix and step between asked.first and asked.last
        group by step / ${fine}) as sums ${replace}`.execute(query)
    await sql`
      ${rollup} select asked.run_ix, asked.key_ix, ${coarse}, sums.* from ${asked(ranges, COARSE_STEPS)} cross join lateral (
        select first_step / ${coarse}, min(first_step), min(low), max(high), sum(total), sum(n)
        from point_rollup where run_ix = asked.run_ix and key_ix = asked.key_ix and width = ${fine}
          and bucket between asked.first / ${fine} and asked.last / ${fine}
        group by first_step / ${coarse}) as sums ${replace}`.execute(query)
  },
}

const rollup = sql`insert into point_rollup (run_ix, key_ix, width, bucket, first_step, low, high, total, n)`
const replace = sql`on conflict (run_ix, key_ix, width, bucket) do update set first_step = excluded.first_step,
  low = excluded.low, high = excluded.high, total = excluded.total, n = excluded.n`

// Widened to whole buckets, those that then meet taken as one: no bucket may be written twice by one statement.
function asked(ranges: readonly StepRange[], width: number): RawBuilder<unknown> {
  const widened: { runIx: number; keyIx: number; first: number; last: number }[] = []
  for (const { runIx, keyIx, ...steps } of ranges) {
    const first = steps.first - (steps.first % width)
    const last = steps.last - (steps.last % width) + width - 1
    const open = widened.at(-1)
    if (open !== undefined && open.runIx === runIx && open.keyIx === keyIx && open.last >= first) open.last = last
    else widened.push({ runIx, keyIx, first, last })
  }
  return sql`unnest(${widened.map((range) => range.runIx)}::bigint[], ${widened.map((range) => range.keyIx)}::bigint[],
    ${widened.map((range) => range.first)}::bigint[], ${widened.map((range) => range.last)}::bigint[])
    as asked (run_ix, key_ix, first, last)`
}
