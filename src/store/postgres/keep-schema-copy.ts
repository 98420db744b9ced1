// The rows of a record as they were before a migration, kept in a schema of their own in the same database.
import { sql } from 'kysely'
import type { Queryable } from '../database.ts'

/** Copies all tables of the current schema. Within the transaction of the migration, so it comes with it or not at all. */
export async function keepSchemaCopy(query: Queryable, name: string): Promise<string> {
  const schema = `evsys_${name.replaceAll(/[^a-z0-9]+/gi, '_').toLowerCase()}`
  const tables = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema() order by tablename`.execute(query)
  const names = tables.rows.map((row) => row.name)
  await sql`lock table ${sql.join(names.map((each) => sql.table(each)))} in exclusive mode`.execute(query)
  await sql`create schema ${sql.id(schema)}`.execute(query)
  for (const each of names) {
    await sql`create table ${sql.id(schema, each)} as table ${sql.table(each)}`.execute(query)
  }
  return `schema ${schema}`
}
