import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { migrate } from './migrations/migrate.ts'
import { createPointBuffer } from './point-buffer.ts'
import { sqliteDatabase } from './sqlite/sqlite-database.ts'
import { createPointNumbers } from './write-points.ts'

it('keeps points whose write failed, tells so, and writes them with the next ones (STO-5)', async () => {
  await using database = await sqliteDatabase(':memory:')
  await migrate(database)
  await sql`insert into experiment (id, name, created_at, status, config_hash, plan, tags, words, provenance, search_name, search_text)
    values ('e', 'e', '', 'running', '', '', '', '', '', '', '')`.execute(database.query)
  await sql`insert into run (id, experiment_id, arm, name, position, seed, payload, config_hash, status, attempt, metrics)
    values ('r', 'e', 'a', 'r', 0, 0, '', '', 'running', 0, '')`.execute(database.query)
  const buffer = createPointBuffer(database, createPointNumbers(database))
  const add = (step: number) =>
    buffer.add({ type: 'points', run_id: 'r', key: ['loss'], step: [step], value: [step], at_ms: [0] })
  const written = async () =>
    (await database.query.selectFrom('point').select('step').execute()).map(({ step }) => step)

  await add(0)
  await buffer.flush()
  await sql`create trigger full before insert on point begin select raise(abort, 'database or disk is full'); end`.execute(
    database.query,
  )
  await add(1)
  await add(2)
  await expect(buffer.flush()).rejects.toThrow('full')
  await expect(Promise.all([add(3), buffer.flush()])).rejects.toThrow('full')
  expect(await written()).toEqual([0])
  await sql`drop trigger full`.execute(database.query)
  await add(4)
  await buffer[Symbol.asyncDispose]()
  expect(await written()).toEqual([0, 1, 2, 3, 4])
  await expect(add(5)).rejects.toMatchObject({ code: 'STORE_FAILED' })
})
