// Brings a record to the version that this code reads. A newer record is refused untouched; an older one is copied first.
// Two processes that open an old record at once: the second waits, then finds nothing left to do.
import { sql } from 'kysely'
import { EvsysError } from '../kernel/index.ts'
import type { Database, Queryable } from './database.ts'
import * as record from './migrations/0001-record.ts'

const MIGRATIONS: readonly { up(query: Queryable, kind: Database['kind']): Promise<void> }[] = [record]

/** Version of the record that this code writes. */
export const STORE_VERSION = MIGRATIONS.length

export interface Migrated {
  readonly from: number
  readonly to: number
  /** Copy of the record as it was; absent when it was new or current. */
  readonly backup?: string
}

/** Migrates to `STORE_VERSION`. `backupFile(version)` names the copy of an older record. */
export async function migrate(database: Database, backupFile: (version: number) => string): Promise<Migrated> {
  const from = await readVersion(database)
  if (from > STORE_VERSION) throw tooNew(database, from)
  if (from === STORE_VERSION) return { from, to: from }
  const backup = from === 0 ? undefined : await database.backup(backupFile(from))
  await database.transaction(async (query) => {
    if (database.kind === 'postgres') await sql`select pg_advisory_xact_lock(7308886)`.execute(query)
    const found = await versionIn(query, database.kind) // another process may have been faster
    if (found > STORE_VERSION) throw tooNew(database, found)
    for (const migration of MIGRATIONS.slice(found)) await migration.up(query, database.kind)
    await writeVersion(query, STORE_VERSION)
  })
  return { from, to: STORE_VERSION, ...(backup === undefined ? {} : { backup }) }
}

/** Version of a record; 0 for an empty database. */
export function readVersion(database: Database): Promise<number> {
  return versionIn(database.query, database.kind)
}

async function versionIn(query: Queryable, kind: Database['kind']): Promise<number> {
  const table =
    kind === 'sqlite'
      ? await sql`select 1 from sqlite_master where name = 'evsys_meta'`.execute(query)
      : await sql`select 1 where to_regclass('evsys_meta') is not null`.execute(query)
  if (table.rows.length === 0) return 0
  const row = await query.selectFrom('evsys_meta').select('value').where('name', '=', 'version').executeTakeFirst()
  return Number(row?.value ?? 0)
}

async function writeVersion(query: Queryable, version: number): Promise<void> {
  await sql`create table if not exists evsys_meta (name text primary key, value text not null)`.execute(query)
  await query
    .insertInto('evsys_meta')
    .values({ name: 'version', value: String(version) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(version) }))
    .execute()
}

function tooNew(database: Database, version: number): EvsysError {
  return new EvsysError(
    'STORE_TOO_NEW',
    `the record ${database.label} has version ${version}; this evsys reads up to ${STORE_VERSION}`,
    { fix: 'install a newer evsys; the record was not touched' },
  )
}
