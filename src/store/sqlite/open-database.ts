// The embedded database: Node's own `node:sqlite` where there is one, else the same API as a package with the binary inside.
// Everything else in this room sees kysely alone, except the hot path of metric points, which takes prepared statements.
import { isBuiltin } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { EvsysError, messageOf } from '../../kernel/index.ts'

export type DatabaseSync = DatabaseSyncInstance

/** How long a writer waits for another process before it gives up. */
const BUSY_TIMEOUT_MS = 30_000

/** Opens or creates a database file in WAL mode; safe with many processes at once. */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const Database = await loadDriver()
  try {
    const database = new Database(file, { timeout: BUSY_TIMEOUT_MS })
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON')
    return database
  } catch (cause) {
    throw new EvsysError('STORE_FAILED', `cannot open the record ${file}: ${messageOf(cause)}`, {
      cause,
      fix: 'check that the folder is writable and the file is a database of evsys; `evsys doctor` looks at both',
    })
  }
}

type Driver = new (file: string, options: { timeout: number }) => DatabaseSync

async function loadDriver(): Promise<Driver> {
  const name = isBuiltin('node:sqlite') ? 'node:sqlite' : '@photostructure/sqlite'
  const driver: { DatabaseSync: Driver } = await quietly(() => import(name)) // the package is the very API of the built-in
  return driver.DatabaseSync
}

// `node:sqlite` announces on first import that it is experimental: true, and no news to a user of evsys.
async function quietly<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest: unknown[]) => {
    if (!String(warning).includes('SQLite')) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return await load()
  } finally {
    process.emitWarning = emitWarning
  }
}
