import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { initialRunState, type RunEvent, reduceRun, type Store } from '../../src/contracts/index.ts'
import { hashOf, manualClock } from '../../src/kernel/index.ts'
import { TABLE_NAMES } from '../../src/store/database/database.ts'
import { eventsOf, recordRun, recordSample } from '../sample-plan.ts'
import { dumpRun } from './dump-run.ts'
import { putPoints } from './put-points.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeKeeping(under: StoreUnderTest): void {
  describe('a backup', () => {
    it('is a file that opens like every record, with everything in it (STO-14)', async () => {
      const store = await openForTest(under.address())
      const { experimentId, runIds } = await fill(store)
      const file = join(under.folder(), 'copy.db')
      await putPoints(store, {
        type: 'points',
        run_id: runIds[0] ?? '',
        key: ['late'],
        step: [0],
        value: [1],
        at_ms: [1],
      })
      expect(await store.backup(file)).toBe(file)
      expect(readdirSync(dirname(file))).toEqual(['copy.db'])
      const copy = await openForTest(file)
      expect(copy.migrated).toMatchObject({ from: copy.migrated.to })
      expect((await copy.usage()).rows).toEqual((await store.usage()).rows)
      for (const runId of runIds) expect(await dumpRun(copy, runId)).toEqual(await dumpRun(store, runId))
      expect(await copy.canonicalRecord(experimentId)).toEqual(await store.canonicalRecord(experimentId))
      expect((await copy.experiments({ text: 'weighed', limit: 9 })).map(({ id }) => id)).toEqual([experimentId])
      expect(await copy.leases.acquire('held', 'somebody else', 1)).toBeUndefined()
      await recordRun(copy) // and it can be gone on with
    })

    it('never takes the place of another file (STO-14)', async () => {
      const store = await openForTest(under.address())
      const file = join(under.folder(), 'copy.db')
      writeFileSync(file, 'precious')
      await expect(store.backup(file)).rejects.toMatchObject({
        code: 'FILE_FAILED',
        message: expect.stringContaining('exists'),
      })
      await expect(store.backup(join(file, 'below'))).rejects.toMatchObject({ fix: expect.any(String) })
      expect(readdirSync(dirname(file))).toEqual(['copy.db'])
    })
  })

  describe('gc', () => {
    it('drops log lines and ended jobs of long ago, and nothing that a conclusion rests on (STO-14)', async () => {
      const clock = manualClock(Date.parse('2026-01-01T00:00:00Z'))
      const store = await openForTest(under.address(), { clock })
      const old = await fill(store)
      const recent = await recordSample(store)
      const recentRun = recent.runIds[0] ?? ''
      const log = eventsOf(recentRun, [{ type: 'log', level: 'info', text: 'keep me' }])
      await store.push({ stream: `run:${recentRun}`, fromSeq: 1, items: log })
      const jobs = store.jobs({ leaseMs: 1000, attempts: 1, backoffMs: 1, maxBackoffMs: 1 })
      const work = async () =>
        jobs.work('me', async (_job, steps) => void (await steps.run('s', z.number(), async () => 1)), never)
      await jobs.submit('old', null)
      await work()
      clock.set(Date.parse('2026-03-01T00:00:00Z'))
      await jobs.submit('recent', null)
      await work()
      const before = await Promise.all([store.canonicalRecord(old.experimentId), store.usage()])
      const live = await fold(store, old.runIds[0] ?? '')
      expect(await store.collect({ before: '2026-02-01' })).toEqual({ events: 2, checkpoints: 1, jobs: 1 })
      expect(await store.collect({ before: '2026-02-01' })).toEqual({ events: 0, checkpoints: 0, jobs: 0 })
      expect(await store.canonicalRecord(old.experimentId)).toEqual(before[0])
      expect((await store.usage()).rows).toEqual({
        ...before[1].rows,
        event: (before[1].rows.event ?? 0) - 2,
        checkpoint: (before[1].rows.checkpoint ?? 0) - 1,
        job: 1,
        job_step: 1,
      })
      // Places stay: a replay goes through to the end, with nothing missing but the text.
      const replayed = await fold(store, old.runIds[0] ?? '')
      expect({ ...replayed, log: [] }).toEqual({ ...live, log: [] })
      expect(replayed.log).toHaveLength(live.log.length)
      expect(await store.events({ stream: `run:${recentRun}`, afterSeq: 0, limit: 9 })).toEqual(log)
      await expect(store.collect({ before: 'yesterday' })).rejects.toMatchObject({ code: 'DATA_INVALID' })
      await jobs.submit('recent', null) // is still known
      expect(await jobs.state('recent')).toMatchObject({ state: 'done' })
    })

    it('gives space back, and everything else stays (STO-14)', async () => {
      const store = await openForTest(under.address())
      const first = await fill(store)
      const runId = await recordRun(store)
      const text = 'x'.repeat(100_000)
      const items = eventsOf(
        runId,
        Array.from({ length: 100 }, () => ({ type: 'log', level: 'info', text })),
      )
      await store.push({ stream: `run:${runId}`, fromSeq: 1, items })
      const second = await fill(store)
      const experimentId = (await store.run(runId))?.experimentId ?? ''
      await finish(store, experimentId)
      const full = (await store.usage()).bytes
      await store.collect({ before: '2030-01-01' })
      const before = await Promise.all([first, second].map((each) => store.canonicalRecord(each.experimentId)))
      await store.compact()
      if (under.kind === 'sqlite') expect((await store.usage()).bytes).toBeLessThan(full / 5)
      const after = await Promise.all([first, second].map((each) => store.canonicalRecord(each.experimentId)))
      expect(after).toEqual(before)
      const found = (await store.experiments({ text: 'weighed', limit: 9 })).map(({ id }) => id)
      expect(new Set(found)).toEqual(new Set([first.experimentId, second.experimentId]))
    })
  })

  describe('du', () => {
    it('counts the rows of every table, and bytes (STO-14)', async () => {
      const store = await openForTest(under.address())
      await fill(store)
      const { rows, bytes } = await store.usage()
      expect(Object.keys(rows).sort()).toEqual([...TABLE_NAMES].sort())
      expect(rows).toMatchObject({ experiment: 1, arm: 1, run: 2, eval: 1, checkpoint: 2, artifact: 1, lease: 1 })
      expect(bytes).toBeGreaterThan(10_000)
    })
  })

  describe('the canonical record', () => {
    it('is equal for equal research, whatever the times, attempts, costs and ids (STO-15)', async () => {
      const store = await openForTest(under.address())
      const straight = await fill(store, { at: '2026-01-01T00:00:00Z', cost: 1, ref: 'a' })
      const interrupted = await fill(store, { at: '2027-07-07T07:07:07Z', cost: 9, ref: 'b', interrupted: true })
      const record = await store.canonicalRecord(straight.experimentId)
      expect(await store.canonicalRecord(interrupted.experimentId)).toEqual(record)
      const text = JSON.stringify(record)
      for (const absent of [...straight.runIds, straight.experimentId, '2026-01-01', 'time/step', 'pid 77']) {
        expect(text).not.toContain(absent)
      }
      const contentOf = async (ref: string) => `content of ${ref}`
      const [one, two] = await Promise.all(
        [straight, interrupted].map(({ experimentId }) => store.canonicalRecord(experimentId, { contentOf })),
      )
      expect(JSON.stringify(one)).toContain('content of a-state')
      expect(one).not.toEqual(two)
      expect(await store.canonicalRecord('exp_9')).toBeUndefined()
    })

    it('counts and hashes every point of a long curve (STO-15)', async () => {
      const store = await openForTest(under.address())
      const { experimentId, runIds } = await recordSample(store)
      const steps = Array.from({ length: 25_000 }, (_, step) => step)
      const value = steps.map((step) => Math.sin(step))
      const batch = { type: 'points' as const, run_id: runIds[0] ?? '', step: steps, at_ms: steps }
      await putPoints(store, { ...batch, key: steps.map(() => 'loss'), value })
      await putPoints(store, { ...batch, key: steps.map(() => 'time/step'), value })
      const hash = hashOf(steps.map((step) => [step, value[step]]))
      expect(await store.canonicalRecord(experimentId)).toMatchObject({
        runs: [{ points: { loss: { n: 25_000, hash } } }],
      })
    })

    it('differs where research does (STO-15)', async () => {
      const store = await openForTest(under.address())
      const record = async (change?: (store: Store, made: Filled) => Promise<void>) => {
        const made = await fill(store)
        await change?.(store, made)
        return JSON.stringify(await store.canonicalRecord(made.experimentId))
      }
      const same = await record()
      expect(await record()).toBe(same)
      const point =
        (step: number, value: number) =>
        async (own: Store, { runIds }: Filled) => {
          await putPoints(own, {
            type: 'points',
            run_id: runIds[0] ?? '',
            key: ['loss'],
            step: [step],
            value: [value],
            at_ms: [1],
          })
        }
      const changes = [
        point(1, 0.25000001),
        point(99, 1),
        async (own: Store, { experimentId }: Filled) => own.verdicts.conclude(experimentId, 'mo', 'No.'),
        async (own: Store, { experimentId }: Filled) =>
          own.verdicts.evidence(experimentId, { effect: 2 }, { wallS: 1 }),
        async (own: Store, { runIds }: Filled) => own.verdicts.invalidate(runIds[1] ?? '', 'leak'),
      ]
      for (const change of changes) expect(await record(change)).not.toBe(same)
    })
  })
}

const never = new AbortController().signal

interface Filled {
  readonly experimentId: string
  readonly runIds: string[]
}

interface FillOptions {
  readonly at?: string | undefined
  readonly cost?: number | undefined
  readonly ref?: string | undefined
  /** The first run is killed after step 2 and goes on from step 0. */
  readonly interrupted?: boolean | undefined
}

/** An experiment with a bit of everything: two runs, one of them failed. */
async function fill(
  store: Store,
  { at = '2026-01-01T00:00:00Z', cost = 1, ref = 'r', interrupted = false }: FillOptions = {},
): Promise<Filled> {
  const made = await recordSample(store, { name: 'filled', hypothesis: 'All is weighed.', seeds: [1, 2], at })
  const [runId = '', failed = ''] = made.runIds
  const step = (n: number) => ({
    type: 'step.finished' as const,
    step: n,
    metrics: { loss: 1 / 2 ** (n + 1), 'time/step': cost * n },
  })
  const save = { type: 'checkpoint.saved' as const, step: 0, kind: 'state' as const, ref: `${ref}-state`, final: false }
  const start = { type: 'run.started' as const, config_hash: 'h', attempt: 1, num_steps: 3, engine_id: 'mock' }
  const lost = interrupted ? [step(2), { ...start, attempt: 2, resumed_from_step: 0 }, step(1)] : []
  const events = eventsOf(runId, [
    start,
    { type: 'data.loaded', n_rows: 10, data_hash: 'd' },
    step(0),
    save,
    { ...save, kind: 'sampler' },
    step(1),
    ...lost,
    { type: 'log', level: 'info', text: `pid 77 at ${at}` },
    step(2),
    {
      type: 'eval.finished',
      benchmark: 'val',
      split: 'val',
      step: 2,
      metrics: { 'pass@1': 0.5, time_per_task: cost },
      n_tasks: 2,
      n_infra_failed: 0,
      scorer_hash: 's',
      rewards: { t1: [1], t2: [0] },
    },
    { type: 'checkpoint.dropped', step: 0, kind: 'sampler' },
    { type: 'log', level: 'info', text: 'done' },
    {
      type: 'run.finished',
      status: 'completed',
      metrics: { loss: 0.125, 'time/total': cost },
      best_step: 2,
      cost_usd: cost,
      wall_s: cost,
    },
  ]).map((event): RunEvent => ({ ...event, at }))
  await store.push({ stream: `run:${runId}`, fromSeq: 1, items: events })
  const error = { code: 'WORKER_DIED' as const, message: `pid 77 died after ${cost} s` }
  await store.push({
    stream: `run:${failed}`,
    fromSeq: 1,
    items: eventsOf(failed, [{ type: 'run.finished', status: 'failed', metrics: {}, error }]),
  })
  await store.keepArtifact(runId, { name: 'card', kind: 'report', ref })
  await store.verdicts.evidence(
    made.experimentId,
    { effect: 0.1, arms: [{ name: 'a', error }] },
    { wallS: cost, costUsd: cost },
  )
  await finish(store, made.experimentId, at)
  await store.leases.acquire('held', 'me', 1e9)
  return made
}

async function finish(store: Store, experimentId: string, at = '2026-01-01T00:00:00Z'): Promise<void> {
  const end = { status: 'completed' as const, verdict: 'exploratory' as const, best_arm: 'a', conclusion: 'It was.' }
  await store.append(`experiment:${experimentId}`, 1, [
    { type: 'experiment.finished', seq: 2, at, experiment_id: experimentId, ...end },
  ])
}

async function fold(store: Store, runId: string) {
  const events = await store.events({ stream: `run:${runId}`, afterSeq: 0, limit: 1000 })
  return events.reduce((state, event) => ('experiment_id' in event ? state : reduceRun(state, event)), initialRunState)
}
