// Kysely over an open embedded database. One connection per process: statements run to completion, one at a time.
import { SqliteDialect } from 'kysely'
import type { DatabaseSync } from './open-database.ts'

type Statement = ReturnType<DatabaseSync['prepare']>
type Bound = string | number | null

/** Prepared statements kept for reuse; past this many distinct texts the oldest goes. */
const KEPT_STATEMENTS = 256

export function sqliteDialect(database: DatabaseSync): SqliteDialect {
  const kept = new Map<string, Statement>()
  const prepare = (sql: string) => {
    const known = kept.get(sql)
    if (known !== undefined) return known
    // A transaction that reads first and writes later would fail when another process wrote in between: take the lock at once.
    const statement = database.prepare(sql === 'begin' ? 'begin immediate' : sql)
    if (kept.size >= KEPT_STATEMENTS) kept.delete(kept.keys().next().value ?? '')
    kept.set(sql, statement)
    return statement
  }
  return new SqliteDialect({
    database: {
      close: () => database.close(),
      prepare(sql) {
        const statement = prepare(sql)
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...bound(parameters)),
          run: (parameters) => {
            const { changes, lastInsertRowid } = statement.run(...bound(parameters))
            return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) }
          },
          iterate: (parameters) => statement.iterate(...bound(parameters)) as IterableIterator<unknown>, // node names it Iterator
        }
      },
    },
  })
}

function bound(parameters: readonly unknown[]): Bound[] {
  return parameters as Bound[] // the table types of this room admit nothing else
}
