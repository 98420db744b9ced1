// Brings a record to the version that this code reads. A newer record is refused untouched; an older one is copied first.
// Two processes that open an old record at once: the second waits, then finds nothing left to do.
import { sql } from 'kysely'
import type { Migrated } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { Database, Queryable } from '../database/database.ts'
import * as record from './0001-record.ts'
import * as runKinds from './0002-run-kinds.ts'

export interface Migration {
  up(query: Queryable, kind: Database['kind']): Promise<void>
}

/** In order: the first makes an empty record. */
export const MIGRATIONS: readonly Migration[] = [record, runKinds]

/** Version of the record that this code writes. */
export const STORE_VERSION = MIGRATIONS.length

/** Any number that nothing else in the database locks. */
const POSTGRES_LOCK = 7_308_886

/** Migrates to the newest of `migrations`, all of them or none. */
export async function migrate(
  database: Database,
  options: { migrations?: readonly Migration[] | undefined; nowMs?: number | undefined } = {},
): Promise<Migrated> {
  const { migrations = MIGRATIONS, nowMs = Date.now() } = options
  const to = migrations.length
  const from = await versionIn(database.query, database.kind)
  if (from > to) throw tooNew(database, from, to)
  if (from === to) return { from, to }
  return database.transaction(async (query) => {
    if (database.kind === 'postgres') await sql`select pg_advisory_xact_lock(${POSTGRES_LOCK})`.execute(query)
    const found = await versionIn(query, database.kind) // another process may have been faster
    if (found > to) throw tooNew(database, found, to)
    if (found === to) return { from: found, to }
    const stamp = new Date(nowMs).toISOString().replace(/[:.]/g, '-')
    const backup = found === 0 ? undefined : await database.keepCopy(query, `v${found}.${stamp}`)
    for (const migration of migrations.slice(found)) await migration.up(query, database.kind)
    await writeVersion(query, to)
    return { from: found, to, backup }
  })
}

/** Reads the catalogue itself: `to_regclass` answers from a cache that a wait for the lock does not refresh. */
async function versionIn(query: Queryable, kind: Database['kind']): Promise<number> {
  const table =
    kind === 'sqlite'
      ? await sql`select 1 from sqlite_master where name = 'evsys_meta'`.execute(query)
      : await sql`select 1 from pg_class where relname = 'evsys_meta' and pg_table_is_visible(oid)`.execute(query)
  if (table.rows.length === 0) return 0
  const row = await query.selectFrom('evsys_meta').select('value').where('name', '=', 'version').executeTakeFirst()
  const version = Number(row?.value)
  if (Number.isSafeInteger(version) && version >= 1) return version
  throw new EvsysError('STORE_FAILED', `the record has no version, but "${row?.value ?? ''}"`, {
    fix: 'put a copy made by `evsys db backup` in its place.',
  })
}

async function writeVersion(query: Queryable, version: number): Promise<void> {
  await sql`create table if not exists evsys_meta (name text primary key, value text not null)`.execute(query)
  await query
    .insertInto('evsys_meta')
    .values({ name: 'version', value: String(version) })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: String(version) }))
    .execute()
}

function tooNew(database: Database, version: number, readable: number): EvsysError {
  return new EvsysError(
    'STORE_TOO_NEW',
    `the record ${database.label} has version ${version}; this evsys reads up to ${readable}`,
    { fix: 'install a newer evsys; the record was not touched.' },
  )
}
