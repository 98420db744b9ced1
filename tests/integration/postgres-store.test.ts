import { afterAll, beforeAll } from 'vitest'
import { describeStore } from '../stores/describe-store.ts'
import { type PostgresServer, postgres, startPostgres } from '../stores/postgres-server.ts'
import { temporaryFolders } from '../temporary-folder.ts'

postgres.describe('a record on a PostgreSQL server (STO-1)', () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = startPostgres()
  })
  afterAll(() => server?.remove())

  describeStore({
    kind: 'postgres',
    address: () => server?.createDatabase() ?? '',
    folder: temporaryFolders(),
  })
})
