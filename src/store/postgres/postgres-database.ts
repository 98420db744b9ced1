// The team database: a PostgreSQL server, many machines.
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import type { Database, Queryable } from '../database.ts'
import { searchWords } from '../search-words.ts'
import type { Tables } from '../tables.ts'

/** Whole numbers of the record stay below 2^53: milliseconds, steps, counts. */
const BIGINT_OID = 20

export async function postgresDatabase(url: string): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 8,
    types: { getTypeParser: (oid, format) => (oid === BIGINT_OID ? Number : pg.types.getTypeParser(oid, format)) },
  })
  pool.on('error', () => {}) // an idle connection that breaks is replaced at its next use, where a failure is reported
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const label = withoutPassword(url)
  try {
    await sql`select 1`.execute(query)
  } catch (cause) {
    await query.destroy()
    throw new EvsysError('STORE_FAILED', `cannot reach the record ${label}: ${messageOf(cause)}`, {
      cause,
      retryable: true,
      fix: 'check the address, that the server runs, and that the role may connect',
    })
  }
  return {
    kind: 'postgres',
    label,
    query,
    transaction: (work) => query.transaction().execute(work),
    async upsertPoints(within, points) {
      await upsert(within, points)
    },
    async search(text, limit) {
      const words = searchWords(text)
      if (words.length === 0) return []
      const wanted = words.map((word) => `${word}:*`).join(' & ')
      const found = await sql<{ id: string }>`
        select id from experiment where search @@ to_tsquery('simple', ${wanted})
        order by ts_rank(search, to_tsquery('simple', ${wanted})) desc, created_at desc limit ${limit}`.execute(query)
      return found.rows.map((row) => row.id)
    },
    async backup() {
      throw new EvsysError('STORE_FAILED', 'a PostgreSQL record is backed up by its server', {
        fix: `run pg_dump ${label}`,
      })
    },
    async sizeBytes() {
      const size = await sql<{ size: number }>`select pg_database_size(current_database()) as size`.execute(query)
      return size.rows[0]?.size ?? 0
    },
    async compact() {
      await sql`vacuum`.execute(query)
    },
    async [Symbol.asyncDispose]() {
      await query.destroy()
    },
  }
}

// Five parameters instead of five thousand. Of points that come twice in one batch the last one counts.
async function upsert(query: Queryable, points: Parameters<Database['upsertPoints']>[1]): Promise<void> {
  const last = new Map(points.map((point) => [`${point.runIx}/${point.keyIx}/${point.step}`, point]))
  const rows = [...last.values()]
  if (rows.length === 0) return
  await sql`
    insert into point (run_ix, key_ix, step, value, at_ms)
    select * from unnest(${rows.map((row) => row.runIx)}::bigint[], ${rows.map((row) => row.keyIx)}::bigint[],
      ${rows.map((row) => row.step)}::bigint[], ${rows.map((row) => row.value)}::double precision[],
      ${rows.map((row) => row.atMs)}::bigint[])
    on conflict (run_ix, key_ix, step) do update set value = excluded.value, at_ms = excluded.at_ms`.execute(query)
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, '$1@')
}
