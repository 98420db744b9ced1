import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { plainColors } from '../../src/cli/output/colors.ts'
import { forecastText } from '../../src/cli/output/plan-text.ts'
import { loadExperiment } from '../../src/config/index.ts'
import type { Plan, PlanPower } from '../../src/contracts/index.ts'
import { planForecast } from '../../src/record/plan/plan-forecast.ts'
import { planPower } from '../../src/record/plan/plan-power.ts'
import { crossedAnova, crossedDetectable, detectableBySeeds } from '../../src/stats/index.ts'
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

const plain = { colors: plainColors, width: 400 }

async function forecastOf(dir: string) {
  await using store = await record(dir)
  return await planForecast(store, await planOf(dir), { maxConcurrent: 2 })
}

const record = (dir: string) => openStore(join(dir, '.evsys', 'evsys.db'))

async function powerOf(dir: string, options: PlanOptions = {}): Promise<PlanPower | undefined> {
  await using store = await record(dir)
  const [power] = await planPower(store, await planOf(dir, options), signal)
  return power
}

describe('planPower', () => {
  it('without history assumes the chance in the tasks, and says so (CLI-12, USE-118)', async () => {
    const dir = folder()
    writeTasks(dir, 50)
    const power = await powerOf(dir, { minEffect: 0.1 })
    const variances = { seed: 0, task: 0.25, residual: 0.25 }
    const near = { seed: 0, task: expect.closeTo(0.25), residual: expect.closeTo(0.25) }
    expect(power).toMatchObject({
      pairs: 3,
      tasks: 50,
      variances: near,
      basis: { from: 'assumed', samples: 1 },
      largest: 1,
    })
    const crossed = { variances, pairs: 3, tasks: 50, confidence: 0.9 }
    expect(power?.detects).toBeCloseTo(0.1 + (crossedDetectable(crossed) ?? Number.NaN))
    expect(power?.detects_with_any_seeds).toBeCloseTo(0.1 + detectableBySeeds(crossed))
  })

  it('more seeds on the same tasks do not make up for tasks, and it says how many would (USE-118)', async () => {
    const dir = folder()
    writeTasks(dir, 50)
    const [few, many] = [await powerOf(dir, { minEffect: 0.1 }), await powerOf(dir, { minEffect: 0.1, seeds: 100 })]
    expect(many?.detects).toBeLessThan(few?.detects ?? 0)
    expect(many?.detects).toBeGreaterThan(many?.detects_with_any_seeds ?? 1)
    expect(few?.needed).toEqual({ effect: 0.2, pairs: null, tasks: expect.any(Number) })
    const forecast = await forecastOf(dir)
    const text = forecastText(forecast, plain, { power: few === undefined ? [] : [few], forecast })
    expect(text).toContain('is beyond 50 tasks: more seeds cannot help; it takes')
    writeTasks(dir, few?.needed?.tasks ?? 0)
    expect((await powerOf(dir, { minEffect: 0.1 }))?.detects).toBeLessThanOrEqual(0.2)
    writeTasks(dir, (few?.needed?.tasks ?? 0) - 1)
    expect((await powerOf(dir, { minEffect: 0.1 }))?.detects).toBeGreaterThan(0.2)
  })

  it('takes the noise of earlier experiments on the same benchmark and metric (CLI-12, USE-118)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    // Of the higher rate, task 5 is right under one seed of three.
    const reward = (rate: number, seed: number, task: number) =>
      rate < 0.1 ? Number(task < 3) : Number(task < 5 || (task === 5 && seed === 43))
    await recordExperiment(dir, { id: 'a', reward })
    await recordExperiment(dir, { id: 'b', seeds: 1 }) // nothing was measured twice
    await recordExperiment(dir, { id: 'c', provenance: { dry: true }, reward: (_rate, seed) => seed % 2 }) // a trial
    const power = await powerOf(dir, { minEffect: 0.05 })
    const table = [0, 1, 0].map((flip) =>
      Array.from({ length: 10 }, (_, t) => (t === 5 ? flip : Number(t === 3 || t === 4))),
    )
    const { variance } = crossedAnova(table)
    expect(power).toMatchObject({ tasks: 10, basis: { from: 'record', experiments: 1 } })
    expect(power?.variances?.seed).toBeCloseTo(variance.seed ?? Number.NaN)
    expect(power?.variances?.task).toBeCloseTo(variance.task ?? Number.NaN)
    expect(power?.variances?.residual).toBeCloseTo(variance.residual ?? Number.NaN)
  })

  it('an arm without another shows the noise too (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    await recordExperiment(dir, { id: 'a', rates: [0.1] }) // 0.7, 0.8, 0.7
    const { variance } = crossedAnova([7, 8, 7].map((right) => Array.from({ length: 10 }, (_, t) => Number(t < right))))
    const power = await powerOf(dir)
    expect(power?.variances?.task).toBeCloseTo(variance.task ?? Number.NaN)
    expect(power?.variances?.residual).toBeCloseTo(2 * (variance.residual ?? Number.NaN))
  })

  it('one seed shows nothing, whatever the noise (CLI-12, W5)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    expect(await powerOf(dir, { seeds: 1, minEffect: 0.1 })).toMatchObject({ pairs: 1, detects: null })
  })

  it('counts the pairs of all cells of a claim (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    const axes = { 'algorithm.params.batch_size': [2, 4] }
    expect(await powerOf(dir, { minEffect: 0.1, axes })).toMatchObject({ pairs: 6 })
  })

  it('plans each of several claims at the first step of Holm (USE-118)', async () => {
    const dir = folder()
    writeTasks(dir, 50)
    await using store = await record(dir)
    const plan = await planOf(dir, { minEffect: 0.1 })
    const { claim } = plan
    const claims = claim === undefined ? [] : [claim, { ...claim, min_effect: 0.2 }]
    const [one] = await planPower(store, plan, signal)
    const both = await planPower(store, { ...plan, claims }, signal)
    expect(both.map(({ min_effect, confidence }) => [min_effect, confidence])).toEqual([
      [0.1, expect.closeTo(0.95)],
      [0.2, expect.closeTo(0.95)],
    ])
    expect(both[0]?.detects).toBeGreaterThan(one?.detects ?? 1)
  })

  it('says that it knows nothing of a metric without bounds and without history (CLI-12)', async () => {
    const dir = folder()
    writeTasks(dir, 10)
    const power = await powerOf(dir, { metric: 'tokens_per_task' })
    expect(power).toMatchObject({ variances: null, basis: null, detects: null, needed: null })
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
