// The team database: a PostgreSQL server, many machines.
import { setTimeout as delay } from 'node:timers/promises'
import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  type RawBuilder,
  sql,
} from 'kysely'
import pg from 'pg'
import { EvsysError, type EvsysErrorOptions, messageOf, systemCode } from '../../kernel/index.ts'
import { type Database, type Queryable, type StepRange, TABLE_NAMES, type Tables } from '../database/database.ts'
import { COARSE_STEPS, FINE_STEPS, LARGEST_SUMMED } from '../database/rollup.ts'
import { rowsFromStored, toStored } from '../database/stored-values.ts'
import { migrate } from '../migrations/migrate.ts'
import { placeWhole } from '../sqlite/open-database.ts'
import { sqliteDatabase } from '../sqlite/sqlite-database.ts'

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

// Connections to a PostgreSQL server, made to speak like the embedded database: whole numbers are numbers, and text comes back
// as it was.
const CONNECT_MS = 10_000
const MOST_CONNECTIONS = 8

// Whole numbers of the record stay below 2^53: milliseconds, steps, counts. Sums of them are of type numeric.
const BIGINT_OID = 20
const NUMERIC_OID = 1700

function openPool(url: string): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: 'evsys',
    types: {
      getTypeParser: (oid, format) =>
        oid === BIGINT_OID || oid === NUMERIC_OID ? Number : pg.types.getTypeParser(oid, format),
    },
  })
  pool.on('error', () => {}) // an idle connection that breaks is replaced at its next use, where a failure is reported
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>()
  return {
    async connect() {
      const client = await pool.connect()
      const known = clients.get(client) ?? translating(client)
      clients.set(client, known)
      return known
    },
    end: () => pool.end(),
  }
}

function translating(client: pg.PoolClient): PostgresPoolClient {
  client.on('error', () => {}) // the query that was under way reports it; without a listener the process would end
  const translated = {
    async query<R>(text: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
      const { command, rowCount, rows } = await client.query(text, parameters.map(stored))
      return { command, rowCount, rows: rowsFromStored(rows) } as PostgresQueryResult<R> // the caller names the row's type
    },
    release: () => client.release(),
  }
  return translated as PostgresPoolClient // without the form that takes a cursor: none is configured
}

function stored(value: unknown): unknown {
  return typeof value === 'string' ? toStored(value) : value
}

// The address of a server as it may be shown: messages, logs and reports never hold a password.
export function withoutPassword(address: string): string {
  try {
    const url = new URL(address)
    url.password = ''
    for (const name of [...url.searchParams.keys()])
      if (/password|passfile|sslkey/i.test(name)) url.searchParams.delete(name)
    return url.href
  } catch {
    return 'postgresql://(an address that cannot be read)'
  }
}

// The rows of a record as they were before a migration, kept in a separate schema of the same database.
/** Copies all tables of the current schema. Within the transaction of the migration, so it comes with it or not at all. */
async function keepSchemaCopy(query: Queryable, name: string): Promise<string> {
  const schema = `evsys_${name.replaceAll(/[^a-z0-9]+/gi, '_').toLowerCase()}`
  const tables = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema() order by tablename`.execute(query)
  const names = tables.rows.map((row) => row.name)
  await sql`lock table ${sql.join(names.map((each) => sql.table(each)))} in exclusive mode`.execute(query)
  await sql`create schema ${sql.id(schema)}`.execute(query)
  for (const each of names) {
    await sql`create table ${sql.id(schema, each)} as table ${sql.table(each)}`.execute(query)
  }
  return `schema ${schema}`
}

// What PostgreSQL and the way to it say went wrong, as an error that says what to do.
type Fault = Required<Pick<EvsysErrorOptions, 'fix' | 'retryable'>>

const away: Fault = { retryable: true, fix: 'check the address, that the server runs, and that it can be reached.' }
const crowded: Fault = { retryable: true, fix: 'the server is busy: try again, or let it take more connections.' }
const refused: Fault = { retryable: false, fix: 'check role, password and database in the address.' }
const full: Fault = {
  retryable: false,
  fix: 'free some space on the server, then run the command again: nothing that was acknowledged is lost.',
}
const forbidden: Fault = { retryable: false, fix: 'give the role the right to create and write tables in its schema.' }
const unknown: Fault = { retryable: false, fix: 'the log of the server says more.' }

// SQLSTATE codes, by their beginning; https://www.postgresql.org/docs/current/errcodes-appendix.html
const BY_STATE: readonly (readonly [string, Fault])[] = [
  ['08', away],
  ['57P', away],
  ['53100', full],
  ['53', crowded],
  ['40', crowded],
  ['55P03', crowded],
  ['28', refused],
  ['3D000', refused],
  ['42501', forbidden],
  ['25006', forbidden],
]
const AWAY = /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|ENOENT)/

function postgresFault(label: string, cause: unknown): EvsysError {
  const message = messageOf(cause)
  return new EvsysError('STORE_FAILED', `the record ${label}: ${message}`, { cause, ...faultOf(cause, message) })
}

function faultOf(cause: unknown, message: string): Fault {
  const code = systemCode(cause) ?? systemCode(firstOf(cause)) ?? ''
  if (AWAY.test(code) || /connection (terminated|error|timeout)|timeout exceeded when trying/i.test(message))
    return away
  return BY_STATE.find(([begin]) => code.startsWith(begin))?.[1] ?? unknown
}

// A name with several addresses: one reason for each that was tried.
function firstOf(cause: unknown): unknown {
  return cause instanceof AggregateError ? cause.errors[0] : undefined
}

/** Whether the server undid a transaction because of others at the same time: doing it again is right. */
function isCollision(cause: unknown): boolean {
  const code = systemCode(cause)
  return code === '40001' || code === '40P01'
}

// Writes metric points as columns: five parameters instead of five thousand.
const postgresPoints: Pick<Database, 'upsertPoints' | 'rollUp'> = {
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

// A record of any database as a file of the embedded one: the backup of a server, which opens like every other record.
/** Values per statement; SQLite takes 32,766. */
const MOST_VALUES = 20_000

/** Copies all rows, as they are at one moment, into a new file. */
async function copyRecord(source: Kysely<Tables>, file: string): Promise<void> {
  await placeWhole(file, async (partial) => {
    await using target = await sqliteDatabase(partial)
    await migrate(target)
    await source
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((from) =>
        target.transaction(async (to) => {
          for (const table of TABLE_NAMES) await copyTable(table, from, to)
        }),
      )
    await sql`pragma journal_mode = delete`.execute(target.query) // all of it in the one file that is given its name
  })
}

async function copyTable(name: string, from: Queryable, to: Queryable): Promise<void> {
  const info = await sql<{ name: string }>`select name from pragma_table_info(${name})`.execute(to)
  const columns = info.rows.map((row) => row.name)
  const ids = sql.join(columns.map((column) => sql.id(column)))
  const rowsAtOnce = Math.floor(MOST_VALUES / columns.length)
  await sql`declare copied no scroll cursor for select ${ids} from ${sql.table(name)}`.execute(from)
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`fetch ${sql.lit(rowsAtOnce)} from copied`.execute(from)
    if (rows.length === 0) break
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    await sql`insert into ${sql.table(name)} (${ids}) values ${sql.join(values)}`.execute(to)
  }
  await sql`close copied`.execute(from)
}
