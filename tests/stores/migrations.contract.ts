import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { openStore, STORE_VERSION } from '../../src/store/index.ts'
import { MIGRATIONS, type Migration, migrate } from '../../src/store/migrations/migrate.ts'
import { eventsOf, recordRun, samplePlan, TIME } from '../sample-plan.ts'
import { type Child, startChild } from '../start-child.ts'
import { dumpRun } from './dump-run.ts'
import { openRaw } from './open-raw.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

const NEXT = STORE_VERSION + 1

export function describeMigrations(under: StoreUnderTest): void {
  describe('a record of another version', () => {
    /** A record of the version of this code, with one run in it. */
    const oldRecord = async () => {
      const address = under.address()
      await using store = await openStore(address)
      const runId = await recordRun(store)
      const items = eventsOf(runId, [{ type: 'step.finished', step: 0, metrics: { loss: 1 } }])
      await store.push({ stream: `run:${runId}`, fromSeq: 1, items })
      return { address, runId, dump: await dumpRun(store, runId) }
    }

    it('that is new gets the version of this code, and keeps it (STO-11)', async () => {
      const address = under.address()
      expect((await openForTest(address)).migrated).toEqual({ from: 0, to: STORE_VERSION })
      expect((await openForTest(address)).migrated).toEqual({ from: STORE_VERSION, to: STORE_VERSION })
    })

    it('that is newer is refused, and stays as it is (STO-11)', async () => {
      const { address, runId, dump } = await oldRecord()
      const version = (value: string) => sql`update evsys_meta set value = ${value} where name = 'version'`
      const database = await openRaw(address)
      await version('99').execute(database.query)
      await expect(openStore(address)).rejects.toMatchObject({
        code: 'STORE_TOO_NEW',
        message: expect.stringContaining(`has version 99; this evsys reads up to ${STORE_VERSION}`),
        fix: expect.stringContaining('install a newer evsys'),
      })
      const seen = await sql<{ value: string }>`select value from evsys_meta`.execute(database.query)
      expect(seen.rows).toEqual([{ value: '99' }])
      await version('x').execute(database.query)
      await expect(openStore(address)).rejects.toMatchObject({ code: 'STORE_FAILED' })
      await version(String(STORE_VERSION)).execute(database.query)
      expect(await dumpRun(await openForTest(address), runId)).toEqual(dump)
    })

    it('that is older is copied, then migrated (STO-11)', async () => {
      const { address, runId, dump } = await oldRecord()
      const next: Migration = { up: async (query) => void (await sql`delete from event`.execute(query)) }
      const database = await openRaw(address)
      const nowMs = Date.parse('2026-05-06T07:08:09.012Z')
      const migrated = await migrate(database, { migrations: [...MIGRATIONS, next], nowMs })
      expect(migrated).toMatchObject({ from: STORE_VERSION, to: NEXT, backup: expect.any(String) })
      expect(await database.query.selectFrom('event').selectAll().execute()).toEqual([])
      if (under.kind === 'sqlite') {
        expect(migrated.backup).toBe(`${address}.v${STORE_VERSION}.2026-05-06T07-08-09-012Z.backup`)
        const copy = await openForTest(migrated.backup ?? '')
        expect(copy.migrated).toEqual({ from: STORE_VERSION, to: STORE_VERSION })
        expect(await dumpRun(copy, runId)).toEqual(dump)
      } else {
        expect(migrated.backup).toBe(`schema evsys_v${STORE_VERSION}_2026_05_06t07_08_09_012z`)
        const kept =
          await sql`select body from ${sql.table(`evsys_v${STORE_VERSION}_2026_05_06t07_08_09_012z.event`)}`.execute(
            database.query,
          )
        expect(kept.rows).toHaveLength(2)
      }
    })

    it('that knew trainings alone keeps its candidates as candidates (STO-11)', async () => {
      const address = under.address()
      const database = await openRaw(address)
      expect(await migrate(database, { migrations: MIGRATIONS.slice(0, 1) })).toEqual({ from: 0, to: 1 })
      const stood = { algorithm: { kind: 'research', params: { title: 'wider', fingerprint: 'f', train_seconds: 2 } } }
      const config = {
        name: 'a1-s0',
        data: { source_kind: 'research', hf_split: 'train', transforms: [] },
        model: { name: 'digits' },
        ...stood,
        backend: { kind: 'research', params: {} },
        seed: 0,
        tags: [],
      }
      const plan = JSON.stringify({
        ...samplePlan({}),
        experiment: { ...samplePlan({}).experiment, runs: [config] },
        arms: [{ name: 'a1', params: {}, seeds: [0] }],
        runs: [{ name: 'a1-s0', arm: 'a1', seed: 0, config, config_hash: 'h' }],
      })
      await sql`insert into experiment (id, name, created_at, status, config_hash, plan, tags, words, provenance, search_name,
        search_text) values ('exp_1', 'digits', ${TIME}, 'running', 'c', ${plan}, '[]', '[]', '{}', '', '')`.execute(
        database.query,
      )
      const error = JSON.stringify({ code: 'WORKER_DIED', message: 'oom: more than 4 GB' })
      await sql`insert into run (id, experiment_id, arm, name, position, seed, config, config_hash, status, attempt, metrics,
        error) values ('run_1', 'exp_1', 'a1', 'a1-s0', 0, 0, ${JSON.stringify(config)}, 'h', 'failed', 1, '{}', ${error})`.execute(
        database.query,
      )
      const store = await openForTest(address)
      expect(store.migrated).toMatchObject({ from: 1, to: STORE_VERSION, backup: expect.any(String) })
      const candidate = { task: 'digits', title: 'wider', fingerprint: 'f', train_seconds: 2 }
      const run = await store.run('run_1')
      expect(run).toMatchObject({ kind: 'candidate', candidate, failure: { class: 'oom', reason: 'more than 4 GB' } })
      expect(run?.error).toEqual({ code: 'WORKER_DIED', message: 'oom: more than 4 GB' })
      const migrated = await store.findExperiment('exp_1')
      expect(migrated.plan.experiment.runs).toEqual([])
      expect(migrated.plan.runs).toEqual([
        { kind: 'candidate', name: 'a1-s0', arm: 'a1', seed: 0, candidate, config_hash: 'h' },
      ])
    })

    it('whose migration fails or is killed half way is as it was (STO-11)', async () => {
      const { address, runId, dump } = await oldRecord()
      const broken: Migration = {
        async up(query) {
          await sql`delete from run`.execute(query)
          throw new Error('broken')
        },
      }
      await expect(migrate(await openRaw(address), { migrations: [...MIGRATIONS, broken] })).rejects.toThrow('broken')
      expect(await dumpRun(await openForTest(address), runId)).toEqual(dump)
      await using child = startChild('store-migrator', [address, 'first', 'hang'])
      expect(await child.line()).toBe('half way')
      await child.kill()
      const store = await openForTest(address)
      expect(store.migrated).toEqual({ from: STORE_VERSION, to: STORE_VERSION })
      expect(await dumpRun(store, runId)).toEqual(dump)
    })

    it('is migrated by one of many processes; the others wait and find it done (STO-11)', async () => {
      const { address } = await oldRecord()
      const children = ['a', 'b', 'c'].map((name) => startChild('store-migrator', [address, name]))
      const reports = await Promise.all(children.map(reportOf))
      expect(reports.map(({ from }) => from).sort()).toEqual([STORE_VERSION, NEXT, NEXT])
      expect(reports.filter(({ backup }) => backup !== undefined)).toHaveLength(1)
      const migrated = await sql`select by_name from migrated`.execute((await openRaw(address)).query)
      expect(migrated.rows).toHaveLength(1)
      await expect(openStore(address)).rejects.toMatchObject({ code: 'STORE_TOO_NEW' })
    })

    it('is created by one of many processes (STO-11)', async () => {
      const address = under.address()
      const children = ['a', 'b', 'c', 'd'].map((name) => startChild('store-migrator', [address, name]))
      const reports = await Promise.all(children.map(reportOf))
      expect(reports.map(({ from }) => from).sort()).toEqual([0, NEXT, NEXT, NEXT])
    })
  })
}

async function reportOf(child: Child): Promise<{ from: number; to: number; backup?: string | undefined }> {
  const line = await child.line()
  expect(await child.exit()).toBe(0)
  return JSON.parse(line)
}
