// A record of any database as a file of the embedded one: the backup of a server, which opens like every other record.
import { type Kysely, sql } from 'kysely'
import type { Queryable } from './database.ts'
import { migrate } from './migrate.ts'
import { placeWhole } from './sqlite/copy-file.ts'
import { sqliteDatabase } from './sqlite/sqlite-database.ts'
import { TABLE_NAMES, type Tables } from './tables.ts'

/** Values per statement; SQLite takes 32,766. */
const MOST_VALUES = 20_000

/** Copies all rows, as they are at one moment, into a new file. */
export async function copyRecord(source: Kysely<Tables>, file: string): Promise<void> {
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
