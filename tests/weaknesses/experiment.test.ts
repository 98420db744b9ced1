// One experiment by way of the command line, looked at from many sides: what the peer's own orchestration gets wrong.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ExperimentResult } from '../../src/contracts/index.ts'
import { type EvalRow, openStore, type RunRow } from '../../src/store/index.ts'
import { runMain } from '../cli/run-main.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

/** Verifier that has no answer for one task: an error of the infrastructure, not of the model. */
const verifier = `import { defineVerifier, z } from 'evsys/plugin'
export default defineVerifier({ kind: 'moody', summary: 'Fails at times.', params: z.strictObject({}),
  verify({ output, expected }) {
    if (expected === 'down') throw new Error('the judge is away')
    return output.trim() === expected ? 1 : 0
  } })`

const [val, test] = twoByTwo.metadata.benchmark
const experiment = {
  ...twoByTwo,
  metadata: {
    ...twoByTwo.metadata,
    // A bare metric, which the peer would have read from whatever was scored first.
    objective: { metric: 'pass@1' },
    benchmark: [
      { ...test, models: ['mock:frontier'] },
      { ...val, models: ['mock:frontier'] },
    ],
  },
}

describe('an experiment', { timeout: 300_000 }, () => {
  const dir = folder()
  let result: ExperimentResult
  let runs: { run: RunRow; evals: EvalRow[] }[] = []
  let files = ''

  beforeAll(async () => {
    const file = experimentProject(dir, experiment, { 'moody.ts': verifier })
    const tasks = ['refund', 'refund', 'mail', 'shop', 'down'].map((expected, i) => ({
      task_id: `val-${i}`,
      instruction: `riddle ${i}`,
      verifier: { kind: 'in_process', fn_name: 'moody', expected },
    }))
    writeFileSync(join(dir, 'data/val/tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
    const { stdout, stderr, code } = await runMain(['run', file, '--json'], { cwd: dir })
    expect(stderr + stdout, stderr).toContain('experiment_id')
    expect(code).toBe(0)
    result = ExperimentResult.parse(JSON.parse(stdout))
    await using store = await openStore(join(dir, '.evsys/evsys.db'))
    const rows = await store.runs(result.experiment_id)
    runs = await Promise.all(rows.map(async (run) => ({ run, evals: await store.evals(run.id) })))
    files = join(dir, '.evsys/runs', readdirSync(join(dir, '.evsys/runs'))[0] ?? '')
  }, 300_000)

  it('W2: arms are ranked by their own checkpoints on validation, whatever models are named beside them (LAB-53)', () => {
    expect(result.objective?.metric).toMatch(/^(val\.)?pass@1$/)
    expect(result.baselines?.map(({ model, benchmark }) => `${model} ${benchmark}`).sort()).toEqual([
      'mock:frontier test',
      'mock:frontier val',
    ])
    expect(result.best_arm).not.toBe('mock:frontier')
    const scores = result.arms.map(({ score }) => score?.mean)
    expect(new Set(scores).size).toBe(2)
    for (const { run, evals } of runs) {
      expect(evals.map(({ benchmark }) => benchmark).sort(), run.name).toEqual(['test', 'val', 'val', 'val', 'val'])
    }
  })

  it('W3: scores made during training belong to their run, and the best of them on validation is what counts (LAB-53)', () => {
    for (const { name, score } of result.arms) {
      const own = runs.filter(({ run }) => run.arm === name)
      const best = own.map(({ run, evals }) => {
        const looks = evals.filter(({ benchmark, step }) => benchmark === 'val' && step !== undefined)
        expect(looks.map(({ step }) => step)).toEqual([4, 9, 14, 19])
        const values = looks.map(({ metrics }) => metrics['pass@1'] ?? 0)
        const top = Math.max(...values)
        expect(run.bestStep).toBe(looks[values.indexOf(top)]?.step)
        return top
      })
      expect(score?.mean).toBeCloseTo(best.reduce((sum, value) => sum + value, 0) / best.length, 12)
    }
  })

  it('W4: a plain run does all of it: repeats, benchmarks after training, loggers, hypothesis, conclusion (LAB-53)', () => {
    expect(runs.map(({ run }) => run.seed)).toEqual([42, 43, 42, 43])
    expect(
      runs.every(({ evals }) => evals.some(({ benchmark, step }) => benchmark === 'test' && step === undefined)),
    ).toBe(true)
    const page = readFileSync(join(files, 'experiment.md'), 'utf8')
    expect(page).toContain(twoByTwo.metadata.hypothesis)
    expect(page).toContain(result.conclusion?.text)
    for (const { run } of runs) {
      expect(readdirSync(join(files, run.name, 'logs')).sort()).toEqual([
        'conclusion.md',
        'data',
        'hypothesis.md',
        'test',
        'training',
        'validation',
      ])
    }
  })

  it('W5: a seed changes data order, start and answers, and an arm is a mean with its interval (LAB-53)', () => {
    for (const { name, score } of result.arms) {
      const [one, two] = runs.filter(({ run }) => run.arm === name)
      expect(one?.run.metrics.train_mean_nll).not.toBe(two?.run.metrics.train_mean_nll)
      expect(score?.n).toBe(2)
      expect(score?.ci).toHaveLength(2)
    }
    expect(new Set(runs.map(({ run }) => run.dataHash)).size).toBe(1)
  })

  it('W6: answers that could not be judged stay in the denominator, as bounds (LAB-53)', () => {
    for (const { evals } of runs) {
      for (const look of evals.filter(({ benchmark }) => benchmark === 'val')) {
        expect(look).toMatchObject({ nTasks: 5, nInfraFailed: 2 })
        expect(look.rewards?.['val-4']).toEqual([null, null])
        const [worst = 0, best = 0] = look.bounds?.['pass@1'] ?? []
        expect(look.metrics['pass@1']).toBe(worst)
        expect(best - worst).toBeCloseTo(1 / 5, 12)
      }
    }
  })

  it('W8: files and record agree on split and step, and hold the answers given during training (LAB-53)', () => {
    for (const { run, evals } of runs) {
      const looks = linesOf(join(files, run.name, 'logs/validation/metrics.jsonl'))
      expect(looks.map(({ step, split }) => [split, step])).toEqual(
        evals.filter(({ benchmark }) => benchmark === 'val').map(({ step, split }) => [split, step]),
      )
      expect(linesOf(join(files, run.name, 'logs/validation/rollouts.jsonl'))).toHaveLength(4 * 5 * 2)
      expect(linesOf(join(files, run.name, 'logs/test/metrics.jsonl'))).toMatchObject([
        { split: 'test', benchmark: 'test' },
      ])
      const steps = linesOf(join(files, run.name, 'logs/training/metrics.jsonl')).map(({ step }) => step)
      expect(steps).toEqual([...Array(20).keys()])
    }
  })
})

function linesOf(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}
