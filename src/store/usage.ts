// What the record takes.
import type { StoreUsage } from '../contracts/index.ts'
import type { Database } from './database.ts'
import { TABLE_NAMES } from './tables.ts'

/** Rows per table and bytes in all, for `evsys du`. */
export async function usage(database: Database): Promise<StoreUsage> {
  const rows: Record<string, number> = {}
  for (const table of TABLE_NAMES) {
    const count = await database.query
      .selectFrom(table)
      .select((expr) => expr.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    rows[table] = Number(count.n)
  }
  return { bytes: await database.sizeBytes(), rows }
}
