import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { openStore } from '../../src/store/index.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

/** Appends a line to a file for every hook that it hears: the life of an experiment, over all its processes. */
const diary = `import { appendFileSync } from 'node:fs'
import { defineCallback, z } from 'evsys/plugin'
const names = ['onExperimentStart', 'onGroupStart', 'onRunStart', 'onTrainData', 'onTrainStart', 'onEval', 'onTrainEnd', 'onBenchmarkEval', 'onRunEnd', 'onExperimentEnd']
export default defineCallback({ kind: 'diary', summary: 'Writes down every hook.', params: z.strictObject({ file: z.string() }),
  async open({ params }) {
    return Object.fromEntries(names.map((name) => [name, (scope, ...rest) => {
      const what = name === 'onGroupStart' ? ' ' + rest[0] : ''
      appendFileSync(params.file, (scope.run?.name ?? '-') + ' ' + name + what + '\\n')
    }]))
  } })`

describe('the life of an experiment', { timeout: 300_000 }, () => {
  it('is told to a callback of the project from start to end, and base_model is scored (LAB-50, LAB-51)', async () => {
    const dir = folder()
    const [val] = twoByTwo.metadata.benchmark
    const { matrix, ...rest } = twoByTwo
    const { base_run } = matrix
    const algorithm = { kind: 'sft', params: { max_steps: 20, learning_rate: 0.1 } }
    const file = experimentProject(
      dir,
      {
        ...rest,
        max_concurrent_arms: 1,
        metadata: { ...rest.metadata, benchmark: [val], claim: { treatment: 'tuned', baseline: 'base_model' } },
        callbacks: [{ kind: 'diary', params: { file: join(dir, 'diary.txt') } }],
        run: { ...base_run, name: 'tuned', algorithm },
      },
      { 'diary.ts': diary },
    )
    const result = await runExperiment(file, { sandbox: 'process' }) // its callback writes into the project
    expect(result.arms.map(({ name, status, seeds }) => [name, status, seeds])).toEqual([
      ['tuned', 'completed', [42, 43]],
      ['base_model', 'completed', [42, 43]],
    ])
    expect(result.best_arm).toBe('tuned')
    expect(result.conclusion?.text).toMatch(/tuned against base_model is \+/)
    await using store = await openStore(join(dirname(file), '.evsys/evsys.db'))
    const runs = await store.runs(result.experiment_id)
    const base = runs.filter(({ arm }) => arm === 'base_model')
    expect(base.map(({ name, numSteps, dataHash }) => [name, numSteps, dataHash])).toEqual([
      ['base_model__s42', 0, undefined],
      ['base_model__s43', 0, undefined],
    ])
    for (const { id } of base) {
      expect(await store.evals(id)).toMatchObject([{ benchmark: 'val', split: 'val', nTasks: 5 }])
      expect(await store.checkpoints(id)).toEqual([])
    }
    const heard = readFileSync(join(dir, 'diary.txt'), 'utf8').trim().split('\n')
    const trained = (run: string) =>
      [
        'onRunStart',
        'onTrainData',
        'onTrainStart',
        ...Array(4).fill(['onBenchmarkEval', 'onEval']).flat(),
        'onTrainEnd',
        'onRunEnd',
      ].map((hook) => `${run} ${hook}`)
    const scored = (run: string) =>
      ['onRunStart', 'onTrainStart', 'onTrainEnd', 'onBenchmarkEval', 'onRunEnd'].map((hook) => `${run} ${hook}`)
    expect(heard).toEqual([
      '- onExperimentStart',
      '- onGroupStart tuned',
      ...trained('tuned__s42'),
      ...trained('tuned__s43'),
      '- onGroupStart base_model',
      ...scored('base_model__s42'),
      ...scored('base_model__s43'),
      '- onExperimentEnd',
    ])
  })
})
