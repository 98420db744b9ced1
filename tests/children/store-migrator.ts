// Migrates a record to a next version that only tests know: `store-migrator ADDRESS NAME [hang]`. Prints what it did as
// JSON. With `hang` it stops half way, inside the migration, and waits to be killed.
import { setInterval } from 'node:timers/promises'
import { sql } from 'kysely'
import { MIGRATIONS, type Migration, migrate } from '../../src/store/migrations/migrate.ts'
import { postgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { sqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'

const [address = '', name = '', hang] = process.argv.slice(2)
const next: Migration = {
  async up(query) {
    await sql`create table migrated (by_name text not null)`.execute(query)
    await sql`insert into migrated (by_name) values (${name})`.execute(query)
    await sql`delete from run`.execute(query) // a migration that would lose data if it stopped here
    if (hang === undefined) return
    process.stdout.write('half way\n')
    for await (const _ of setInterval(60_000));
  },
}
await using database = await (address.startsWith('postgres') ? postgresDatabase(address) : sqliteDatabase(address))
process.stdout.write(`${JSON.stringify(await migrate(database, { migrations: [...MIGRATIONS, next] }))}\n`)
