// Connections to a PostgreSQL server, made to speak like the embedded database: whole numbers are numbers, and text comes back
// as it was.
import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { rowsFromStored, toStored } from '../stored-text.ts'

const CONNECT_MS = 10_000
const MOST_CONNECTIONS = 8

// Whole numbers of the record stay below 2^53: milliseconds, steps, counts. Sums of them are of type numeric.
const BIGINT_OID = 20
const NUMERIC_OID = 1700

export function openPool(url: string): PostgresPool {
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
  client.on('error', () => {}) // the query that was under way tells it; without a listener the process would end
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
