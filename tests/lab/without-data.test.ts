import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const folder = temporaryFolders()
const benchmark = twoByTwo.metadata.benchmark.map((each) => ({ ...each, run_every: 0 }))
const metadata = { objective: { metric: 'val.pass@1' }, benchmark }
const run = { model: { name: 'mock' }, backend: { kind: 'mock' } }

describe('recipes that take no rows', { timeout: 300_000 }, () => {
  it('need no data: a model is scored, and prompts are searched (USE-226)', async () => {
    const params = { instructions: ['Answer in one word.', 'Name the desk.'], max_steps: 4 }
    const runs = [
      { ...run, name: 'as-it-is', algorithm: { kind: 'score_only' } },
      { ...run, name: 'searched', algorithm: { kind: 'prompt_search', params } },
    ]
    const result = await runExperiment(experimentProject(folder(), { name: 'prompts', metadata, runs }))
    expect(result.arms.map(({ name, status }) => [name, status])).toEqual([
      ['as-it-is', 'completed'],
      ['searched', 'completed'],
    ])
    const searched = result.runs?.find(({ arm }) => arm === 'searched')
    expect(searched?.artifacts.map(({ name }) => name)).toEqual(['prompt_trials', 'system_prompt'])
    expect(result.curves?.find(({ metric }) => metric === 'prompt/score')?.points.length).toBeGreaterThan(2)
  })

  it('are the only ones: others ask for data (USE-226)', async () => {
    const file = experimentProject(folder(), {
      name: 'rows',
      metadata,
      run: { ...run, name: 'a', algorithm: { kind: 'sft' } },
    })
    await expect(runExperiment(file)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })
})
