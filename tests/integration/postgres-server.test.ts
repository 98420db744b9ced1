import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore } from '../../src/store/index.ts'
import { eventsOf, recordRun } from '../sample-plan.ts'
import { dumpRun } from '../stores/dump-run.ts'
import { type PostgresServer, postgres, startPostgres } from '../stores/postgres-server.ts'
import { openForTest } from '../stores/store-under-test.ts'

const away = { code: 'STORE_FAILED', retryable: true, fix: expect.stringContaining('check the address') }

it('a server that is not there is a typed error that shows no password (STO-13)', async () => {
  for (const address of [
    'postgresql://mo:s3cret@127.0.0.1:1/evsys?sslpassword=s3cret',
    'postgresql://mo:s3cret@/evsys?host=/nowhere',
    'postgres://mo:s3cret@no-such-host.invalid/evsys',
  ]) {
    const error: unknown = await openStore(address).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(away)
    expect(String(Reflect.get(Object(error), 'message'))).not.toContain('s3cret')
  }
  const odd: unknown = await openStore('postgresql://mo:s3cret@[').catch((thrown: unknown) => thrown)
  expect(odd).toMatchObject({ code: 'STORE_FAILED' })
  expect(String(Reflect.get(Object(odd), 'message'))).not.toContain('s3cret')
})

postgres.describe('a PostgreSQL server', () => {
  let server: PostgresServer | undefined
  beforeAll(() => {
    server = startPostgres()
  })
  afterAll(() => server?.remove())
  const running = () => {
    if (server === undefined) throw new Error('no server')
    return server
  }

  it('that goes away and comes back is a retryable error in between, and work goes on (STO-13)', async () => {
    const store = await openForTest(running().createDatabase())
    const runId = await recordRun(store)
    const points = { type: 'points' as const, run_id: runId, key: ['loss'], step: [0], value: [1], at_ms: [1] }
    const items = eventsOf(runId, [{ type: 'notice', text: 'a' }])
    await store.push({ stream: `run:${runId}`, fromSeq: 1, items: [points] })
    const before = await dumpRun(store, runId)
    running().stop()
    for (const attempt of [
      () => store.push({ stream: `run:${runId}`, fromSeq: 2, items }),
      () => store.experiments({ limit: 1 }),
      () => store.leases.acquire('x', 'me', 1000),
      () => store.push({ stream: `run:${runId}`, fromSeq: 2, items: [{ ...points, step: [1] }] }),
    ]) {
      await expect(attempt()).rejects.toMatchObject(away)
    }
    running().start()
    expect(await dumpRun(store, runId)).toEqual(before)
    await store.push({ stream: `run:${runId}`, fromSeq: 2, items: [...items, { ...points, step: [1] }] })
    expect(await store.curve({ runId, key: 'loss', maxPoints: 9 })).toHaveLength(2)
  })

  it('refuses roles, databases and encodings that do not fit, each with a fix (STO-13)', async () => {
    const address = running().createDatabase()
    await expect(openStore(address.replace('evsys@', 'nobody-we-know@'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      retryable: false,
      fix: expect.stringContaining('check role'),
    })
    await expect(openStore(address.replace(/\/t\d+/, '/missing'))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      fix: expect.stringContaining('check role'),
    })
    const latin = running().createDatabase("encoding 'LATIN1' template template0")
    await expect(openStore(latin)).rejects.toMatchObject({ code: 'STORE_FAILED', fix: expect.stringContaining('UTF8') })
  })
})
