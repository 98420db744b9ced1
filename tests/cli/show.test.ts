import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ErrorReport, ExperimentResult } from '../../src/contracts/index.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { recordExperiment } from './recorded.ts'
import { runMain } from './run-main.ts'

const folder = temporaryFolders()
const cwd = folder()

beforeAll(async () => {
  await recordExperiment(cwd, { id: 'one1', name: 'rates', day: '2026-01-01' })
  await recordExperiment(cwd, {
    id: 'two2',
    name: 'rates',
    day: '2026-01-02',
    hypothesis: 'A higher rate helps.',
    minEffect: 0.05,
    rates: [0.01, 0.05, 0.1],
    failing: [0.05],
  })
  await recordExperiment(cwd, { id: 'three', name: 'stopped', day: '2026-01-03', unfinished: true })
})

describe('show', () => {
  it('tells everything of an experiment (CLI-14)', async () => {
    await runMain(['conclude', 'exp_two2', 'The rate in between breaks.', '--author', 'ada'], { cwd })
    const { code, stdout, stderr } = await runMain(['show', 'exp_two2'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await expect(stdout.replaceAll(/\(\d{4}-\d{2}-\d{2}\)/g, '(TODAY)')).toMatchFileSnapshot('golden/show.txt')
  })

  it('names the arm that failed and keeps the scores of the others (CLI-14, W3)', async () => {
    const { stdout } = await runMain(['show', 'exp_two2', '--json'], { cwd })
    const result = ExperimentResult.parse(JSON.parse(stdout))
    expect(result.arms.map(({ name, status, score, error }) => [name, status, score?.n ?? 0, error?.code])).toEqual([
      ['rates__learning_rate0p01', 'completed', 3, undefined],
      ['rates__learning_rate0p05', 'failed', 0, 'WORKER_DIED'],
      ['rates__learning_rate0p1', 'completed', 3, undefined],
    ])
    expect(result).toMatchObject({ status: 'completed', best_arm: 'rates__learning_rate0p1', cost_usd: null })
    expect(result.conclusion?.verdict).toBe('supported')
  })

  it('tells the engines of the runs and their threads, where they are known (CPU-44)', async () => {
    const own = folder()
    const cpu = `cpu-native-${'0123456789abcdef'}`
    await recordExperiment(own, { id: 'mixed', seeds: 1, engines: [`${cpu}-2-threads-avx2`, `${cpu}-avx2`] })
    await recordExperiment(own, { id: 'other', seeds: 1, engines: ['a-service', 'a-service'] })
    const { engines } = ExperimentResult.parse(
      JSON.parse((await runMain(['show', 'exp_mixed', '--json'], { cwd: own })).stdout),
    )
    expect(engines).toEqual([
      { id: `${cpu}-2-threads-avx2`, threads: 2, n_runs: 1 },
      { id: `${cpu}-avx2`, threads: 1, n_runs: 1 },
    ])
    const { stdout } = await runMain(['show', 'exp_mixed'], { cwd: own })
    expect(stdout).toMatch(
      /^engine +cpu-native-0123456789abcdef-2-threads-avx2, 2 threads \(1 run\)\n +cpu-native-\S+, 1 thread \(1 run\)$/m,
    )
    expect((await runMain(['show', 'exp_other'], { cwd: own })).stdout).toMatch(/^engine +a-service$/m)
  })

  it('tells how fast an engine was measured to be; that is no part of what is compared (CPU-44)', async () => {
    const own = folder()
    const engine = `cpu-wasm-${'0123456789abcdef'}-2-threads`
    await recordExperiment(own, { id: 'fast', seeds: 1, engines: [engine, engine] })
    const store = await openStore(join(own, '.evsys', 'evsys.db'))
    const before = await store.canonicalRecord('exp_fast')
    const stream = 'experiment:exp_fast'
    const { nextEvent: seq } = await store.cursor(stream)
    const measured = { type: 'engine.measured', engine_id: engine, gflops: 12.4 } as const
    const base = { seq, at: '2026-01-01T00:00:00.000Z', experiment_id: 'exp_fast' }
    await store.append(stream, seq - 1, [{ ...base, ...measured }])
    expect(await store.canonicalRecord('exp_fast')).toEqual(before)
    await store[Symbol.asyncDispose]()
    const { engines } = ExperimentResult.parse(
      JSON.parse((await runMain(['show', 'exp_fast', '--json'], { cwd: own })).stdout),
    )
    expect(engines).toMatchObject([{ id: engine, threads: 2, gflops: 12.4 }])
    const { stdout } = await runMain(['show', 'exp_fast'], { cwd: own })
    expect(stdout).toMatch(/^engine +cpu-wasm-\S+, 2 threads, 12 GFLOP\/s$/m)
  })

  it.each([
    ['the whole id', 'exp_one1', 'exp_one1'],
    ['the beginning of an id', 'exp_o', 'exp_one1'],
    ['a name: the newest of that name', 'rates', 'exp_two2'],
  ])('finds an experiment by %s (CLI-14)', async (_how, reference, id) => {
    const { stdout } = await runMain(['show', reference, '--json'], { cwd })
    expect(JSON.parse(stdout).experiment_id).toBe(id)
  })

  it.each([
    ['exp_t', 'more than one', 'STORE_AMBIGUOUS'],
    ['nope', 'no experiment', 'STORE_MISSING'],
    ['', 'no experiment', 'STORE_MISSING'],
    ['%', 'no experiment', 'STORE_MISSING'],
  ])('says that "%s" finds %s (CLI-14)', async (reference, words, given) => {
    const { code, stdout } = await runMain(['show', reference, '--json'], { cwd })
    expect(code).toBe(2)
    const { errors } = ErrorReport.parse(JSON.parse(stdout))
    expect(errors).toMatchObject([{ code: given }])
    expect(errors[0]?.message).toContain(words)
  })

  it('says how to go on with an experiment that was interrupted (CLI-14)', async () => {
    const { stdout } = await runMain(['show', 'stopped'], { cwd })
    expect(stdout).toContain('it was interrupted; `evsys run FILE --resume` continues it')
    const { stdout: json } = await runMain(['show', 'stopped', '--json'], { cwd })
    expect(ExperimentResult.parse(JSON.parse(json))).toMatchObject({ conclusion: null, status: 'running' })
  })

  it('says where the files are, and that they are gone (CLI-14)', async () => {
    const before = await runMain(['show', 'exp_one1'], { cwd })
    const [, path = ''] = /^files +(.*)$/m.exec(before.stdout) ?? []
    expect(path).toBe('.evsys/runs/2026-01-01-12-00-00-000_rates')
    rmSync(join(cwd, path), { recursive: true })
    const after = await runMain(['show', 'exp_one1'], { cwd })
    expect(after.stdout).toMatch(/^files +none on this machine$/m)
  })

  it('fits a terminal (CLI-14)', async () => {
    const { stdout } = await runMain(['show', 'exp_two2'], { cwd, columns: 100, env: { NO_COLOR: '1' } })
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
  })

  it('counts the arms and runs of a large sweep instead of listing them (CLI-14)', async () => {
    const own = folder()
    const rates = Array.from({ length: 60 }, (_, i) => (i + 1) / 100)
    await recordExperiment(own, { id: 'wide', rates, seeds: 1 })
    const { stdout } = await runMain(['show', 'exp_wide'], { cwd: own })
    expect(stdout).toContain('... and 40 more arms')
    expect(stdout).toContain('... and 30 more runs')
  })
})
