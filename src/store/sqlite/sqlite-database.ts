// The embedded database: one file, many processes, no server.
import { stat } from 'node:fs/promises'
import { Kysely, sql } from 'kysely'
import type { Database, PointRow } from '../database.ts'
import { searchWords } from '../search-words.ts'
import type { Tables } from '../tables.ts'
import { type DatabaseSync, openDatabase } from './open-database.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

export async function sqliteDatabase(file: string): Promise<Database> {
  const database = await openDatabase(file)
  const query = new Kysely<Tables>({ dialect: sqliteDialect(database) })
  const insertPoint = pointWriter(database)
  return {
    kind: 'sqlite',
    label: file,
    query,
    transaction: (work) => query.transaction().execute(work),
    // The statement runs on the one connection, inside whatever transaction the caller has open.
    async upsertPoints(_query, points) {
      for (const point of points) insertPoint(point)
    },
    async search(text, limit) {
      const words = searchWords(text)
      if (words.length === 0) return []
      const match = words.map((word) => `"${word}"*`).join(' ')
      const found = await sql<{ id: string }>`
        select experiment.id from experiment_text join experiment on experiment.rowid = experiment_text.rowid
        where experiment_text match ${match} order by rank, experiment.created_at desc limit ${limit}`.execute(query)
      return found.rows.map((row) => row.id)
    },
    async backup(target) {
      database.prepare('vacuum into ?').run(target)
      return target
    },
    async sizeBytes() {
      if (file === ':memory:') return 0
      const sizes = await Promise.all([file, `${file}-wal`].map((part) => stat(part).catch(() => ({ size: 0 }))))
      return sizes.reduce((sum, { size }) => sum + size, 0)
    },
    async compact() {
      database.exec('pragma wal_checkpoint(truncate)')
      database.exec('vacuum')
    },
    async [Symbol.asyncDispose]() {
      await query.destroy()
    },
  }
}

function pointWriter(database: DatabaseSync): (point: PointRow) => void {
  let statement: ReturnType<DatabaseSync['prepare']> | undefined // the table is there only after migration
  return ({ runIx, keyIx, step, value, atMs }) => {
    statement ??= database.prepare(
      `insert into point (run_ix, key_ix, step, value, at_ms) values (?, ?, ?, ?, ?)
       on conflict do update set value = excluded.value, at_ms = excluded.at_ms`,
    )
    statement.run(runIx, keyIx, step, value, atMs)
  }
}
