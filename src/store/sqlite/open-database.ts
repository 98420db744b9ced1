// Opens a database file so that many processes can use it at once, and refuses files that belong to something else.
import { EvsysError } from '../../kernel/index.ts'
import { type DatabaseSync, loadDriver } from './load-driver.ts'
import { BLOCKING_MS, patiently } from './patiently.ts'
import { sqliteFault } from './sqlite-fault.ts'

// WAL: readers and one writer at once. NORMAL: what was committed survives the death of the process; a power loss may take the
// last transactions, whole, and never damages the file.
const SETTINGS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864'

/** Opens or creates a database file. */
export async function openDatabase(file: string): Promise<DatabaseSync> {
  const Database = await loadDriver()
  let database: DatabaseSync | undefined
  try {
    const opened = new Database(file)
    database = opened
    opened.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}; PRAGMA foreign_keys = ON`)
    await patiently(() => refuseForeign(opened, file))
    // Two processes that create it at once: switching the journal does not wait by itself.
    await patiently(() => opened.exec(SETTINGS))
    return opened
  } catch (cause) {
    database?.close()
    throw EvsysError.is(cause) ? cause : sqliteFault(file, cause)
  }
}

/** Closes it, with everything in the one file: the packaged driver lets SQLite clean up only when memory is collected. */
export function closeDatabase(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // A full or locked disk: what is beside the file is read from there the next time.
  }
  database.close()
}

function refuseForeign(database: DatabaseSync, file: string): void {
  const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
  if (tables.length === 0 || tables.some(({ name }) => name === 'evsys_meta')) return
  throw new EvsysError('STORE_FAILED', `${file} is the database of another program`, {
    fix: 'name another file; this one was not touched.',
  })
}
