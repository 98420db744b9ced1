// Opens a database file so that many processes can use it at once, and refuses files that belong to something else.

import { link, open, unlink } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { announceWait, EvsysError, fileError, longWaits, onAbort, syncFolder } from '../../kernel/index.ts'
import { isBusy, sqliteFault } from './sqlite-fault.ts'

// WAL: readers and one writer at once. NORMAL: what was committed survives the death of the process; a power loss may take the
// last transactions, whole, and never damages the file.
const SETTINGS = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 67108864'

export async function openDatabase(file: string, signal?: AbortSignal): Promise<DatabaseSync> {
  const Database = await loadDriver()
  let database: DatabaseSync | undefined
  try {
    const opened = new Database(file)
    database = opened
    opened.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}; PRAGMA foreign_keys = ON`)
    await patiently(() => refuseForeign(opened, file), { signal })
    // Two processes that create it at once: switching the journal does not wait by itself.
    await patiently(() => opened.exec(SETTINGS), { signal })
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

// The embedded database: Node's own `node:sqlite` where it has all that is needed (22.16), else the same API as a package with
// the binary inside. Nothing else in this room knows which of the two it has.
export type DatabaseSync = DatabaseSyncInstance
type Driver = new (file: string, options?: { readOnly?: boolean }) => DatabaseSync

let loaded: Promise<Driver> | undefined

export function loadDriver(): Promise<Driver> {
  loaded ??= load()
  return loaded
}

interface DriverModule {
  DatabaseSync: Driver
  StatementSync?: { prototype: object }
}

async function load(): Promise<Driver> {
  if (isBuiltin('node:sqlite')) {
    const name: string = 'node:sqlite' // not known to the types of Node 20
    const builtin: DriverModule = await withoutWarning(() => import(name))
    if ('columns' in (builtin.StatementSync?.prototype ?? {})) return builtin.DatabaseSync
  }
  const packaged: DriverModule = await import('@photostructure/sqlite')
  return packaged.DatabaseSync
}

// `node:sqlite` announces on first import that it is experimental: true, and no news to a user of evsys.
async function withoutWarning<T>(work: () => Promise<T>): Promise<T> {
  const { emitWarning } = process
  process.emitWarning = (warning, ...rest: unknown[]) => {
    if (!String(warning).includes('SQLite')) Reflect.apply(emitWarning, process, [warning, ...rest])
  }
  try {
    return await work()
  } finally {
    process.emitWarning = emitWarning
  }
}

// Waiting for the write lock of other processes. SQLite itself would wait by blocking the thread, and with it heartbeats and
// workers' messages, so it waits only for a moment; the rest is waited for here.
/** How long SQLite may block the thread. */
const BLOCKING_MS = 20
const PATIENCE_MS = 60_000
const LONGEST_PAUSE_MS = 50

/** After an interruption: enough to record the end, unless the lock is held for long. */
const HURRIED_MS = 2000

interface Patience {
  readonly ms?: number | undefined
  /** Aborted: the lock is waited for a moment more. */
  readonly signal?: AbortSignal | undefined
}

/** Does `work`, again and again while another process holds the lock. */
export async function patiently<T>(work: () => T, { ms = PATIENCE_MS, signal }: Patience = {}): Promise<T> {
  let busy: unknown
  try {
    return work()
  } catch (error) {
    if (!isBusy(error)) throw error
    busy = error
  }
  let givesUpAt = performance.now() + ms
  const hurry = () => {
    givesUpAt = Math.min(givesUpAt, performance.now() + HURRIED_MS)
  }
  const stopListening = signal === undefined ? () => {} : onAbort(signal, hurry)
  using _waiting = announceWait((seconds) =>
    longWaits.publish(
      `another process has been writing to the record for ${seconds} s; waiting for up to ${Math.ceil(ms / 1000)} s`,
    ),
  )
  try {
    for (let pauseMs = 1; performance.now() < givesUpAt; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      await delay(pauseMs)
      try {
        return work()
      } catch (error) {
        if (!isBusy(error)) throw error
        busy = error
      }
    }
    throw busy
  } finally {
    stopListening()
  }
}

// A copy of a database file, made while others write. It appears under its name when it is complete, not before, and
// never in the place of another file.
/** Copies the database in `file`. One in memory is copied from the connection that holds it. */
export async function copyFile(database: DatabaseSync, file: string, target: string): Promise<void> {
  const Database = await loadDriver()
  await placeWhole(target, (partial) => {
    if (file === ':memory:') return vacuumInto(database, partial)
    const own = new Database(file) // the first may be in the middle of a transaction
    try {
      vacuumInto(own, partial)
    } finally {
      own.close()
    }
  })
}

function vacuumInto(database: DatabaseSync, target: string): void {
  database.prepare('vacuum into ?').run(target)
}

/** Lets `make` write a file beside `target`, and puts it there once it is safely on disk. */
export async function placeWhole(target: string, make: (partial: string) => void | Promise<void>): Promise<void> {
  const partial = `${target}.partial-${process.pid}`
  const remove = () => Promise.allSettled(['', '-wal', '-shm'].map((end) => unlink(`${partial}${end}`)))
  try {
    await remove() // what a process that died left
    await make(partial)
    await using made = await open(partial, 'r+')
    await made.sync()
    await link(partial, target).catch((cause: unknown) => {
      throw fileError('write', target, cause) // it exists: a copy never replaces one
    })
    await syncFolder(dirname(target))
  } finally {
    await remove()
  }
}
