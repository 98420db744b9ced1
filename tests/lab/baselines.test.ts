// Models beside the arms of an experiment: scored on the same tasks in the same words, and never taken for an arm.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/index.ts'
import { openStore } from '../../src/store/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const [val] = twoByTwo.metadata.benchmark

const experiment = (models: readonly string[]) => ({
  name: 'beside',
  metadata: {
    objective: { metric: 'pass@1' },
    benchmark: [{ ...val, models, chat_template: { user_template: '{prompt}' }, breakdown_keys: ['desk'] }],
  },
  run: {
    ...twoByTwo.matrix.base_run,
    name: 'one',
    algorithm: { kind: 'sft', params: { max_steps: 5, learning_rate: 0.001 } },
  },
})

/** Every answer is the question: a model that echoes gets all of them right. */
function project(models: readonly string[]): { dir: string; file: string } {
  const dir = folder()
  const file = experimentProject(dir, experiment(models))
  const tasks = ['refund', 'mail', 'shop'].map((desk, i) => ({
    task_id: `t${i}`,
    instruction: desk,
    verifier: { kind: 'in_process', fn_name: 'exact_match', expected: desk },
    metadata: { desk },
  }))
  writeFileSync(join(dir, 'data/val/tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
  return { dir, file }
}

describe('models beside the arms', { timeout: 240_000 }, () => {
  it('W2: a model that answers everything is told beside the arms and ranks none of them (EVL-8)', async () => {
    const { dir, file } = project(['mock:frontier', 'base_model'])
    const result = await runExperiment(file, { projectDir: dir })
    expect(result.best_arm).toBe('one')
    expect(result.arms.map(({ name }) => name).sort()).toEqual(['base_model', 'one'])
    expect(result.baselines).toMatchObject([
      { model: 'mock:frontier', benchmark: 'val', split: 'val', metrics: { 'pass@1': 1 }, n_tasks: 3, cost_usd: 0 },
    ])
    expect(result.baselines?.[0]?.intervals?.['pass@1']).toHaveLength(2)
    expect(result.conclusion?.text).toMatch(/For comparison: the untrained model [\d.]+, mock:frontier 1\./)
    await using store = await openStore(join(dir, '.evsys/evsys.db'))
    const runs = await store.runs(result.experiment_id)
    // The same scorer for all: checkpoint, untrained model and the model behind a client.
    const evals = (await Promise.all(runs.map((run) => store.evals(run.id)))).flat()
    expect(new Set([...evals.map(({ scorerHash }) => scorerHash), result.baselines?.[0]?.scorer_hash]).size).toBe(1)
    expect(evals.every(({ metrics }) => (metrics['pass@1'] ?? 0) < 1)).toBe(true)
    const base = runs.find(({ arm }) => arm === 'base_model')
    expect(base?.kind === 'training' && base.config.algorithm.kind).toBe('score_only')
    const page = readFileSync(
      join(
        dir,
        '.evsys/runs',
        (await import('node:fs')).readdirSync(join(dir, '.evsys/runs'))[0] ?? '',
        'experiment.md',
      ),
      'utf8',
    )
    expect(page).toContain('none of them is an arm')
  })

  it('a model that cannot be reached costs no run, and a name that says nothing starts none (EVL-8)', async () => {
    const { dir, file } = project(['claude-none'])
    const result = await runExperiment(file, { projectDir: dir })
    expect(result.status).toBe('completed')
    expect(result.baselines).toMatchObject([
      { model: 'claude-none', error: { message: expect.stringContaining('ANTHROPIC_API_KEY') } },
    ])
    const wrong = project(['frontier/model'])
    await expect(runExperiment(wrong.file, { projectDir: wrong.dir })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
