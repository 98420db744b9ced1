// Tests on a real PostgreSQL server, where one is installed.
import { needs } from '../needs.ts'
import { findPostgres } from './start-postgres.ts'

export { type PostgresServer, startPostgres } from './start-postgres.ts'

export const postgres = needs(
  'a PostgreSQL server (Debian: postgresql)',
  () => findPostgres() !== undefined || 'no initdb',
)
