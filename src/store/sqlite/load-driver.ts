// The embedded database: Node's own `node:sqlite` where it has all that is needed (22.16), else the same API as a package with
// the binary inside. Nothing else in this room knows which of the two it has.
import { isBuiltin } from 'node:module'
import type { DatabaseSyncInstance } from '@photostructure/sqlite'

export type DatabaseSync = DatabaseSyncInstance
export type Driver = new (file: string, options?: { readOnly?: boolean }) => DatabaseSync

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
