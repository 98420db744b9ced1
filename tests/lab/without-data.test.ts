import { describe, expect, it } from 'vitest'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { startFakeProvider } from '../fake-provider.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { experimentProject, twoByTwo } from './experiment-project.ts'

const usage = { prompt_tokens: 1000, completion_tokens: 100 }
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

  it('count what the model that proposes costs, in the record (USE-482)', async () => {
    let asked = 0
    const { url } = await startFakeProvider(() => {
      asked += 1
      return { choices: [{ message: { content: `Prompt ${asked}.` }, finish_reason: 'stop' }], usage }
    })
    const price = { input: 1000, output: 10_000 } // 1 dollar for the prompt, 1 for the answer
    const client = { kind: 'openai_compatible', params: { base_url: `${url}/v1`, model: 'm', api_key: 'none', price } }
    const algorithm = { kind: 'prompt_search', params: { max_steps: 3, proposer: { client } } }
    const paid = { name: 'paid', budget: { usd: 5 }, metadata, run: { ...run, algorithm } }
    const result = await runExperiment(experimentProject(folder(), paid))
    const runs = result.runs?.map(({ status, cost_usd }) => [status, cost_usd])
    expect([asked, runs, result.cost_usd]).toEqual([2, [['completed', 4]], 4])
  })

  it('end within a run where that cost passes the budget, and what was spent is in the record (USE-482)', async () => {
    let asked = 0
    const { url } = await startFakeProvider(() => {
      asked += 1
      return { choices: [{ message: { content: `Prompt ${asked}.` }, finish_reason: 'stop' }], usage }
    })
    const price = { input: 1000, output: 10_000 }
    const client = { kind: 'openai_compatible', params: { base_url: `${url}/v1`, model: 'm', api_key: 'none', price } }
    const algorithm = { kind: 'prompt_search', params: { max_steps: 60, proposer: { client } } }
    const file = experimentProject(folder(), { name: 'paid', budget: { usd: 5 }, metadata, run: { ...run, algorithm } })
    const result = await runExperiment(file)
    const [only] = result.runs ?? []
    expect(only?.status).toBe('stopped')
    // 6 dollars are past the cap; what is under way while the run is asked to end comes on top.
    expect(asked).toBeGreaterThanOrEqual(3)
    expect(asked).toBeLessThan(30)
    expect(only?.cost_usd).toBeGreaterThanOrEqual(6)
    expect(only?.cost_usd).toBeLessThanOrEqual(2 * asked)
    expect(result.cost_usd).toBe(only?.cost_usd)
    expect(result.conclusion?.text).toContain('budget.usd is 5, and 6 are used')
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
