// Kysely over an open embedded database. One connection per process: its holder runs statements to completion, the others
// wait in line.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { rowsFromStored, toStored } from '../database/stored-values.ts'
import { closeDatabase, type DatabaseSync, patiently } from './open-database.ts'

/** `signal`, aborted: locks of other processes are waited for a moment more. */
export function sqliteDialect(database: DatabaseSync, signal?: AbortSignal): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => sqliteDriver(database, signal),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function sqliteDriver(database: DatabaseSync, signal: AbortSignal | undefined): Driver {
  const connection = sqliteConnection(database, signal)
  let lastInLine: Promise<void> = Promise.resolve()
  let leave = () => {}
  return {
    async init() {},
    async acquireConnection() {
      const before = lastInLine
      let done = () => {}
      lastInLine = new Promise((resolve) => {
        done = resolve
      })
      await before
      leave = done
      return connection
    },
    async releaseConnection() {
      leave()
    },
    // A transaction that reads first and writes later would fail when another process wrote in between: take the lock at once.
    beginTransaction: () => patiently(() => database.exec('begin immediate'), { signal }),
    async commitTransaction() {
      database.exec('commit')
    },
    // A full disk ends the transaction by itself; there is nothing left to roll back then.
    async rollbackTransaction() {
      if (database.isTransaction) database.exec('rollback')
    },
    async destroy() {
      closeDatabase(database)
    },
  }
}

function sqliteConnection(database: DatabaseSync, signal: AbortSignal | undefined): DatabaseConnection {
  const prepare = createStatementCache(database)
  const execute = <R>({ sql, parameters }: CompiledQuery): QueryResult<R> => {
    const { statement, reads } = prepare(sql)
    const values = parameters.map(bindable)
    if (reads) return { rows: rowsFromStored<R>(statement.all(...values)) }
    return { rows: [], numAffectedRows: BigInt(statement.run(...values).changes) }
  }
  return {
    // Within a transaction the lock is held already.
    executeQuery: async (query) =>
      database.isTransaction ? execute(query) : patiently(() => execute(query), { signal }),
    streamQuery() {
      throw new Error('the embedded database gives all rows at once') // nothing in this room asks
    },
  }
}

function bindable(value: unknown): unknown {
  if (typeof value === 'string') return toStored(value)
  // The packaged driver binds these as 0; a column of numbers takes them as text.
  if (typeof value === 'number' && value > 0 && value < Number.EPSILON) return String(value)
  return value
}

// Prepared statements, kept by their text: compiling one costs more than running it.
interface Prepared {
  readonly statement: ReturnType<DatabaseSync['prepare']>
  readonly reads: boolean
}

const KEPT = 256

/** Gives the prepared form of a text; past 256 texts the one that was not used for longest goes. */
function createStatementCache(database: DatabaseSync): (text: string) => Prepared {
  const kept = new Map<string, Prepared>()
  return (text) => {
    let prepared = kept.get(text)
    if (prepared === undefined) {
      const statement = database.prepare(text)
      prepared = { statement, reads: statement.columns().length > 0 }
      if (kept.size >= KEPT) kept.delete(kept.keys().next().value ?? '')
    } else kept.delete(text)
    kept.set(text, prepared)
    return prepared
  }
}
