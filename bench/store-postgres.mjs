// The bench of the record on a PostgreSQL server, started for it where one is installed. The server syncs nothing to the disk:
// the program is measured, not the disk.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'

/** @type {typeof import('../tests/stores/start-postgres.ts')} */
const { findPostgres, startPostgres } = await createJiti(import.meta.url).import('../tests/stores/start-postgres.ts')

if (findPostgres() === undefined) {
  console.log('\nPostgreSQL was not measured: no server is installed here')
} else {
  const server = startPostgres()
  try {
    const bench = fileURLToPath(new URL('store.mjs', import.meta.url))
    const { status } = spawnSync(process.execPath, [bench, server.createDatabase()], { stdio: 'inherit' })
    process.exitCode = status ?? 1
  } finally {
    server.remove()
  }
}
