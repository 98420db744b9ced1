// The embedded database: one file, many processes, no server.
import { stat } from 'node:fs/promises'
import { Kysely, sql } from 'kysely'
import type { Database, Tables } from '../database/database.ts'
import { closeDatabase, copyFile, openDatabase } from './open-database.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { sqliteFault } from './sqlite-fault.ts'
import { sqlitePoints } from './sqlite-points.ts'

export async function sqliteDatabase(file: string, signal?: AbortSignal): Promise<Database> {
  const database = await openDatabase(file, signal)
  const query = new Kysely<Tables>({ dialect: sqliteDialect(database, signal) })
  return {
    kind: 'sqlite',
    label: file,
    query,
    transaction: (work) => query.transaction().execute(work),
    ...sqlitePoints(database),
    async search(words, limit) {
      const match = words.map((word) => `"${word}"*`).join(' ')
      const found = await sql<{ id: string }>`
        select experiment.id from experiment_text join experiment on experiment.ix = experiment_text.rowid
        where experiment_text match ${match}
        order by bm25(experiment_text, 10.0, 1.0), experiment.created_at desc limit ${limit}`.execute(query)
      return found.rows.map((row) => row.id)
    },
    async keepCopy(_query, name) {
      const target = `${file}.${name}.backup`
      await copyFile(database, file, target)
      return target
    },
    copyTo: (target) => query.connection().execute(() => copyFile(database, file, target)),
    async sizeBytes() {
      if (file === ':memory:') return 0
      const sizes = await Promise.all([file, `${file}-wal`].map((part) => stat(part).catch(() => ({ size: 0 }))))
      return sizes.reduce((sum, { size }) => sum + size, 0)
    },
    async compact() {
      await query.connection().execute(async (own) => {
        await sql`vacuum`.execute(own)
        await sql`pragma wal_checkpoint(truncate)`.execute(own)
      })
    },
    explain: (cause) => sqliteFault(file, cause),
    async [Symbol.asyncDispose]() {
      await query.destroy()
      if (database.isOpen) closeDatabase(database) // kysely leaves alone what it never used
    },
  }
}
