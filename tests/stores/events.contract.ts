import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Item,
  initialRunState,
  RunEvent,
  type RunState,
  reduceRun,
  type Store,
} from '../../src/contracts/index.ts'
import { eventsOf, recordRun, recordSample, TIME } from '../sample-plan.ts'
import { scaled } from '../scale.ts'
import { arbitraryItems } from './arbitrary-items.ts'
import { openRaw } from './open-raw.ts'
import { openForTest, type StoreUnderTest } from './store-under-test.ts'

export function describeEvents(under: StoreUnderTest): void {
  describe('events', () => {
    it('are replayed as they were live, and tables say what the fold says (STO-4, STO-16)', async () => {
      const store = await openForTest(under.address())
      await fc.assert(
        fc.asyncProperty(arbitraryItems('r'), async (items) => {
          const runId = await recordRun(store)
          const own = items.map((item) => ({ ...item, run_id: runId }))
          await store.push({ stream: `run:${runId}`, fromSeq: 1, items: own })
          const live = own.flatMap((item) => (item.type === 'points' ? [] : RunEvent.parse(item)))
          const replayed = await store.events({ stream: `run:${runId}`, afterSeq: 0, limit: 1000 })
          expect(replayed).toEqual(live)
          const state = live.reduce(reduceRun, initialRunState)
          expect(await rowsOf(store, runId)).toEqual(rowsOfFold(state))
          expect(await pointsOf(store, runId)).toEqual(pointsOfModel(own))
        }),
        { numRuns: scaled(25) },
      )
    })

    it('are read by number and by type (STO-4)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const events = eventsOf(runId, [
        { type: 'run.started', config_hash: 'h', attempt: 1 },
        { type: 'notice', text: 'a' },
        { type: 'guard.tripped', step: 3, reason: 'nan' },
        { type: 'notice', text: 'b' },
      ])
      await store.push({ stream: `run:${runId}`, fromSeq: 1, items: events })
      const read = (query: { afterSeq: number; limit: number; types?: RunEvent['type'][] | undefined }) =>
        store.events({ stream: `run:${runId}`, ...query })
      expect(await read({ afterSeq: 1, limit: 2 })).toEqual(events.slice(1, 3))
      expect(await read({ afterSeq: 4, limit: 2 })).toEqual([])
      expect(await read({ afterSeq: 0, limit: 9, types: ['notice'] })).toEqual([events[1], events[3]])
      expect(await read({ afterSeq: 0, limit: 9, types: [] })).toEqual([])
    })

    it('are as many as were asked for, however many between them were dropped (STO-4, STO-14)', async () => {
      const address = under.address()
      const store = await openForTest(address)
      const runId = await recordRun(store)
      const stream = `run:${runId}`
      const [first] = eventsOf(runId, [{ type: 'notice', text: 'first' }])
      const [last] = eventsOf(runId, [{ type: 'notice', text: 'last' }], 1_000_000_000)
      if (first === undefined || last === undefined) throw new Error('two events')
      const rows = [first, last].map((event) => {
        return { stream, seq: event.seq, type: event.type, at: event.at, body: JSON.stringify(event) }
      })
      await (await openRaw(address)).query.insertInto('event').values(rows).execute()
      const start = await store.events({ stream, afterSeq: 0, limit: 3 })
      expect(start.map(({ seq, type }) => [seq, type])).toEqual([
        [1, 'notice'],
        [2, 'log'],
        [3, 'log'],
      ])
      const end = await store.events({ stream, afterSeq: 999_999_998, limit: 3 })
      expect(end.map(({ seq, type }) => [seq, type])).toEqual([
        [999_999_999, 'log'],
        [1_000_000_000, 'notice'],
      ])
    })

    it('move an experiment from start to end, and back when it is started again (STO-4)', async () => {
      const store = await openForTest(under.address())
      const { experimentId } = await recordSample(store)
      const stream = `experiment:${experimentId}`
      const base = { at: TIME, experiment_id: experimentId }
      await store.append(stream, 1, [
        {
          ...base,
          type: 'experiment.finished',
          seq: 2,
          status: 'stopped',
          verdict: 'inconclusive',
          best_arm: 'a',
          conclusion: 'Cut.',
        },
      ])
      const finished = {
        status: 'stopped',
        verdict: 'inconclusive',
        bestArm: 'a',
        conclusion: 'Cut.',
        finishedAt: TIME,
      }
      expect(await store.experiment(experimentId)).toMatchObject(finished)
      await store.append(stream, 2, [
        { ...base, type: 'experiment.started', seq: 3, name: 'sample', config_hash: 'c', n_arms: 1, n_runs: 1 },
      ])
      const again = await store.experiment(experimentId)
      expect(again).toMatchObject({ status: 'running' })
      for (const key of Object.keys(finished).slice(1)) expect(again).not.toHaveProperty(key)
    })

    it('store evaluations with their rewards, and checkpoints until they are dropped (STO-4)', async () => {
      const store = await openForTest(under.address())
      const runId = await recordRun(store)
      const scored = {
        benchmark: 'val',
        split: 'val' as const,
        metrics: { 'pass@1': 0.5 },
        bounds: { 'pass@1': [0.25, 0.75] as [number, number] },
        n_tasks: 4,
        n_infra_failed: 1,
        scorer_hash: 's',
        rewards: { t1: [1, null], t2: [0, 1] },
        by_task: { macro_f1: { t1: 0.5, t2: [0.25, 1] as [number, number] } },
        ranges: { macro_f1: [0, 1] as [number, number] },
        predictions: 'blob:p',
      }
      const items = eventsOf(runId, [
        { type: 'eval.finished', ...scored, step: 9 },
        { type: 'eval.finished', ...scored },
        { type: 'checkpoint.saved', step: 9, kind: 'state', ref: 'one', final: false },
        { type: 'checkpoint.saved', step: 9, kind: 'sampler', ref: 'two', final: false },
        { type: 'checkpoint.saved', step: 9, kind: 'state', ref: 'three', final: true },
        { type: 'checkpoint.dropped', step: 9, kind: 'sampler' },
      ])
      await store.push({ stream: `run:${runId}`, fromSeq: 1, items })
      const row = {
        benchmark: 'val',
        split: 'val',
        metrics: scored.metrics,
        bounds: scored.bounds,
        nTasks: 4,
        nInfraFailed: 1,
      }
      const rest = {
        scorerHash: 's',
        rewards: scored.rewards,
        byTask: scored.by_task,
        ranges: scored.ranges,
        predictions: 'blob:p',
      }
      expect(await store.evals(runId)).toEqual([
        { ...row, ...rest },
        { ...row, ...rest, step: 9 },
      ])
      expect(await store.checkpoints(runId)).toEqual([{ step: 9, kind: 'state', ref: 'three', final: true }])
    })
  })
}

async function rowsOf(store: Store, runId: string): Promise<unknown> {
  const row = await store.run(runId)
  return {
    status: row?.status,
    attempt: row?.attempt,
    num_steps: row?.numSteps,
    best_step: row?.bestStep,
    n_rows: row?.nRows,
    error: row?.error,
    started_at: row?.startedAt,
    finished_at: row?.finishedAt,
    cost_usd: row?.costUsd,
    tokens: row?.tokens,
    wall_s: row?.wallS,
    evals: sorted(
      (await store.evals(runId)).map(({ benchmark, step, metrics, nTasks }) => ({ benchmark, step, metrics, nTasks })),
    ),
    checkpoints: sorted(await store.checkpoints(runId)),
  }
}

function rowsOfFold(state: RunState): unknown {
  // A step's checkpoint of one kind is one row: the one that was saved last.
  const checkpoints = new Map(state.checkpoints.map((each) => [`${each.step} ${each.kind}`, each]))
  return {
    status: state.status,
    attempt: state.attempt,
    num_steps: state.num_steps,
    best_step: state.best_step,
    n_rows: state.n_rows,
    error: state.error,
    started_at: state.started_at,
    finished_at: state.finished_at,
    cost_usd: state.cost_usd,
    tokens: state.tokens,
    wall_s: state.wall_s,
    evals: sorted(
      state.evals.map(({ benchmark, step, metrics, n_tasks }) => ({ benchmark, step, metrics, nTasks: n_tasks })),
    ),
    checkpoints: sorted([...checkpoints.values()]),
  }
}

function sorted<T extends object>(rows: readonly T[]): T[] {
  const keyOf = (row: T) => JSON.stringify(row, Object.keys(row).sort())
  return [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

async function pointsOf(store: Store, runId: string): Promise<Map<string, Map<number, number>>> {
  const curves = new Map<string, Map<number, number>>()
  for (const key of await store.metricKeys(runId)) {
    const curve = await store.curve({ runId, key, maxPoints: Number.MAX_SAFE_INTEGER })
    curves.set(key, new Map(curve.map(({ step, mean }) => [step, mean])))
  }
  return curves
}

/** The law of points: the last one counts, and going back to a step forgets what came after it. */
function pointsOfModel(items: readonly Item[]): Map<string, Map<number, number>> {
  const points = new Map<string, Map<number, number>>()
  const set = (key: string, step: number, value: number) =>
    points.set(key, (points.get(key) ?? new Map()).set(step, value))
  const forgetAfter = (kept: number) => {
    for (const [key, steps] of points) {
      for (const step of steps.keys()) if (step > kept) steps.delete(step)
      if (steps.size === 0) points.delete(key)
    }
  }
  for (const item of items) {
    if (item.type === 'points') item.key.forEach((key, i) => void set(key, item.step[i] ?? 0, item.value[i] ?? 0))
    if (item.type === 'step.finished')
      for (const [key, value] of Object.entries(item.metrics)) set(key, item.step, value)
    if (item.type === 'run.started' && item.seq > 1) forgetAfter(item.resumed_from_step ?? -1)
    if (item.type === 'guard.tripped' && item.rolled_back_to !== undefined) forgetAfter(item.rolled_back_to)
  }
  return points
}
