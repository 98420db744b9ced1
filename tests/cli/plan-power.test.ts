import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadExperiment } from '../../src/config/index.ts'
import type { Plan } from '../../src/contracts/index.ts'
import { planForecast } from '../../src/record/plan/plan-forecast.ts'
import { planPower } from '../../src/record/plan/plan-power.ts'
import { pairsNeeded, smallestDetectableEffect } from '../../src/stats/index.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()

interface PlanOptions {
  readonly seeds?: number | undefined
  readonly minEffect?: number | undefined
  readonly metric?: string | undefined
  readonly axes?: Record<string, unknown[]> | undefined
  readonly runEvery?: number | undefined
}

/** A plan of the experiments that `recordExperiment` records, in the same project. */
async function planOf(dir: string, options: PlanOptions = {}): Promise<Plan> {
  const { seeds = 3, minEffect, metric = 'pass@1', axes = {}, runEvery = 5 } = options
  const claim = {
    treatment: { 'algorithm.params.learning_rate': 0.1 },
    baseline: { 'algorithm.params.learning_rate': 0.01 },
    min_effect: minEffect,
  }
  const benchmark = { name: 'val', path: 'data/val', split: 'val', run_every: runEvery, metrics: [metric] }
  const value = {
    name: 'plan',
    metadata: {
      objective: { metric: `val.${metric}` },
      ...(minEffect === undefined ? {} : { claim }),
      benchmark: [benchmark],
    },
    n_repeats: seeds,
    matrix: {
      axes: { 'algorithm.params.learning_rate': [0.01, 0.1], ...axes },
      base_run: {
        data: { path: 'data/train.jsonl' },
        model: { name: 'mock' },
        algorithm: { kind: 'sft', params: { max_steps: 20 } },
        backend: { kind: 'mock' },
      },
    },
  }
  return (await loadExperiment({ value }, { cwd: dir })).plan
}

function writeTasks(dir: string, count: number): void {
  mkdirSync(join(dir, 'data', 'val'), { recursive: true })
  mkdirSync(join(dir, '.evsys'), { recursive: true })
  const tasks = Array.from({ length: count }, (_, i) => ({
    task_id: `t${i}`,
    instruction: 'Say yes.',
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: 'yes' },
  }))
  writeFileSync(join(dir, 'data', 'val', 'tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
}

const record = (dir: string) => openStore(join(dir, '.evsys', 'evsys.db'))

describe('planPower', () => {
  it('without history assumes the chance in the tasks, and says so (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 50)
    await using store = await record(dir)
    const power = await planPower(store, await planOf(dir, { minEffect: 0.1 }), signal)
    const sd = Math.sqrt(0.5 / 50)
    expect(power).toMatchObject({ pairs: 3, noise: { basis: { from: 'tasks', tasks: 50, samples: 1 } }, largest: 1 })
    expect(power?.noise?.sd).toBeCloseTo(sd)
    const beyond = smallestDetectableEffect({ pairs: 3, sd, confidence: 0.9 }) ?? Number.NaN
    expect(power?.detects).toBeCloseTo(0.1 + beyond)
    expect(power?.needed).toEqual({ effect: 0.2, pairs: pairsNeeded({ gap: 0.1, sd, confidence: 0.9 }) })
  })

  it('takes the noise of earlier experiments on the same benchmark and metric (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await recordExperiment(dir, { id: 'a' }) // differences over seeds: 0.3, 0.5, 0.4
    await recordExperiment(dir, { id: 'b', seeds: 1 }) // nothing was measured twice
    await recordExperiment(dir, { id: 'c', provenance: { dry: true }, reward: (_rate, seed) => seed % 2 }) // a trial
    await using store = await record(dir)
    const power = await planPower(store, await planOf(dir, { minEffect: 0.05 }), signal)
    expect(power?.noise).toEqual({ sd: expect.closeTo(0.1), basis: { from: 'history', experiments: 1, df: 2 } })
  })

  it('an arm that stands alone tells the noise too (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await recordExperiment(dir, { id: 'a', rates: [0.1] }) // 0.7, 0.8, 0.7
    await using store = await record(dir)
    const power = await planPower(store, await planOf(dir), signal)
    expect(power?.noise?.sd).toBeCloseTo(Math.SQRT2 * Math.sqrt((2 * (1 / 30) ** 2 + (2 / 30) ** 2) / 2))
  })

  it('one seed shows nothing, whatever the noise (CLI-12, W5)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await using store = await record(dir)
    expect(await planPower(store, await planOf(dir, { seeds: 1, minEffect: 0.1 }), signal)).toMatchObject({
      pairs: 1,
      detects: null,
    })
  })

  it('counts the pairs of all cells of a claim (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await using store = await record(dir)
    const plan = await planOf(dir, { minEffect: 0.1, axes: { 'algorithm.params.batch_size': [2, 4] } })
    expect(await planPower(store, plan, signal)).toMatchObject({ pairs: 6 })
  })

  it('says that it knows nothing of a metric without bounds and without history (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await using store = await record(dir)
    const power = await planPower(store, await planOf(dir, { metric: 'tokens_per_task' }), signal)
    expect(power).toMatchObject({ detects: null, needed: null })
    expect(power?.noise).toBeUndefined()
  })
})

describe('planForecast', () => {
  it('counts steps and evaluations of the plan (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await using store = await record(dir)
    expect(await planForecast(store, await planOf(dir), { maxConcurrent: 2 })).toEqual({
      runs: 6,
      steps: 120,
      evals: 24,
      tokens: null,
      wallS: null,
      costUsd: null,
      maxConcurrent: 2,
      measuredOn: 0,
    })
  })

  it('measures pace and tokens on earlier runs of the same recipe (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await recordExperiment(dir, { id: 'a' }) // 10 steps of 100 tokens in 5 s, all of it at one moment
    await using store = await record(dir)
    const forecast = await planForecast(store, await planOf(dir), { maxConcurrent: 3 })
    expect(forecast).toMatchObject({ tokens: 12_000, measuredOn: 5, maxConcurrent: 3 })
    expect(forecast.wallS).toBeCloseTo((6 * 5) / 3)
  })

  it('takes no start of a trial of one step for the pace of steps (USE-115)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    // 9 s to start, a step of 0.5 s, 1 s of scoring.
    const seconds = (type: string) =>
      ({ 'run.started': 9, 'eval.finished': 1 })[type] ?? (type === 'step.finished' ? 0.5 : 0)
    await recordExperiment(dir, { id: 'a', steps: 1, seconds, provenance: { dry: true } })
    await using store = await record(dir)
    const { wallS } = await planForecast(store, await planOf(dir), { maxConcurrent: 1 })
    const actual = 6 * (9 + 20 * 0.5 + 4 * 1)
    expect(wallS).toBeGreaterThan(actual / 2)
    expect(wallS).toBeLessThan(actual * 2)
  })

  it('counts evaluations as such, and pauses as none of it (USE-115)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    let n = 0
    const seconds = (type: string) =>
      ({ 'run.started': 2, 'eval.finished': 6 })[type] ?? (type === 'step.finished' ? (n++ === 4 ? 4000 : 0.5) : 0)
    await recordExperiment(dir, { id: 'a', seconds, seeds: 1 })
    await using store = await record(dir)
    const { wallS } = await planForecast(store, await planOf(dir, { seeds: 1 }), { maxConcurrent: 1 })
    const actual = 2 * (2 + 20 * 0.5 + 4 * 6)
    expect(wallS).toBeGreaterThan(actual / 2)
    expect(wallS).toBeLessThan(actual * 2)
  })

  it('counts the evaluation of the selected checkpoint by benchmarks that were not scored at it (USE-115)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await using store = await record(dir)
    const evals = async (runEvery: number) => (await planForecast(store, await planOf(dir, { runEvery }))).evals
    expect(await evals(5)).toBe(6 * 4)
    expect(await evals(30)).toBe(6)
    expect(await evals(0)).toBe(6)
  })

  it('never plans more at a time than there are runs (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await using store = await record(dir)
    expect((await planForecast(store, await planOf(dir, { seeds: 1 }), { maxConcurrent: 64 })).maxConcurrent).toBe(2)
  })
})
