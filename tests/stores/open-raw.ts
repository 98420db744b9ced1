// The database below a record, for tests that look at its tables.
import { onTestFinished } from 'vitest'
import type { Database } from '../../src/store/database/database.ts'
import { postgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { sqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'

export async function openRaw(address: string): Promise<Database> {
  const database = await (address.startsWith('postgres') ? postgresDatabase(address) : sqliteDatabase(address))
  onTestFinished(() => database[Symbol.asyncDispose]())
  return database
}
