// The team database: a PostgreSQL server, many machines.
import { setTimeout as delay } from 'node:timers/promises'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { EvsysError } from '../../kernel/index.ts'
import { copyRecord } from '../copy-record.ts'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import { keepSchemaCopy } from './keep-schema-copy.ts'
import { openPool } from './open-pool.ts'
import { isCollision, postgresFault } from './postgres-fault.ts'
import { postgresPoints } from './postgres-points.ts'
import { withoutPassword } from './without-password.ts'

/** How often a transaction that others undid is done again. */
const MOST_ATTEMPTS = 10

export async function postgresDatabase(url: string): Promise<Database> {
  const label = withoutPassword(url)
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: async () => openPool(url) }) })
  const database: Database = {
    kind: 'postgres',
    label,
    query,
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await query.transaction().execute(work)
        } catch (error) {
          if (attempt === MOST_ATTEMPTS || !isCollision(error)) throw error
        }
        await delay(attempt * 5)
      }
    },
    ...postgresPoints,
    async search(words, limit) {
      const wanted = words.map((word) => `'${word}':*`).join(' & ')
      const found = await sql<{ id: string }>`
        select id from experiment, to_tsquery('simple', ${wanted}) as wanted where search @@ wanted
        order by ts_rank(search, wanted) desc, created_at desc limit ${limit}`.execute(query)
      return found.rows.map((row) => row.id)
    },
    keepCopy: keepSchemaCopy,
    copyTo: (file) => copyRecord(query, file),
    async sizeBytes() {
      const size = await sql<{ size: number }>`select pg_database_size(current_database()) as size`.execute(query)
      return size.rows[0]?.size ?? 0
    },
    async compact() {
      await sql`vacuum`.execute(query)
    },
    async serverTimeMs() {
      const time = await sql<{ ms: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(query)
      return time.rows[0]?.ms ?? 0
    },
    explain: (cause) => postgresFault(label, cause),
    async [Symbol.asyncDispose]() {
      await query.destroy()
    },
  }
  try {
    await checkEncoding(database)
  } catch (cause) {
    await query.destroy()
    throw EvsysError.is(cause) ? cause : postgresFault(label, cause)
  }
  return database
}

async function checkEncoding({ query, label }: Database): Promise<void> {
  const shown = await sql<{ server_encoding: string }>`show server_encoding`.execute(query)
  const encoding = shown.rows[0]?.server_encoding
  if (encoding === 'UTF8') return
  throw new EvsysError('STORE_FAILED', `the record ${label}: the database has the encoding ${encoding}, not UTF8`, {
    fix: "make it with `create database NAME encoding 'UTF8' template template0`.",
  })
}
