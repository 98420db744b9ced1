import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { openLocalTrainer, serveTrainer } from '../../src/backends/local/index.ts'
import { localBackend } from '../../src/backends/local/local-backend.ts'
import { mockBackend } from '../../src/backends/mock/mock-backend.ts'
import { tinkerBackend } from '../../src/backends/tinker/tinker-backend.ts'
import { type Loss, ModelConfig, type OpenBackend } from '../../src/contracts/index.ts'
import { runExperiment } from '../../src/lab/experiment/run-experiment.ts'
import { experimentProject, twoByTwo } from '../lab/experiment-project.ts'
import { pluginContext } from '../plugin-context.ts'
import { inFullLane } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const folder = temporaryFolders()

/** Every metric that a run wrote, by file, without the times. */
function metricsOf(file: string): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  const runs = join(dirname(file), '.evsys/runs')
  for (const path of listed(runs)) {
    const lines = readFileSync(join(runs, path), 'utf8').trim().split('\n')
    found[path.split('/').slice(1).join('/')] = lines.map((line) => withoutTimes(JSON.parse(line)))
  }
  return found
}

function listed(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('metrics.jsonl'))
}

function withoutTimes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => !/time|_s$|^at$|wall|per_s/.test(key)))
}

describe('an experiment', { timeout: 300_000 }, () => {
  it('has the same scores and metrics on mock, local and tinker, whatever the recipe, and others for another seed (TRN-17, LAB-58)', async () => {
    const trainer = await start()
    vi.stubEnv('TINKER_API_KEY', 'tml-test')
    const rows = Array.from({ length: 6 }, (_, i) => ({ messages: [{ role: 'user', content: `question ${i}` }] }))
    const inMemory = (made: object[]) => ({ source_kind: 'in_memory', rows: made })
    const params = { max_steps: 4, batch_size: 2, learning_rate: 0.1, save_every: 2 }
    const chats = rows.map(({ messages }) => ({ messages: [...messages, { role: 'assistant', content: 'refund' }] }))
    const pairs = rows.map((row) => ({ ...row, chosen: 'refund', rejected: 'shop' }))
    const tasks = rows.map((_, i) => ({
      task_id: `task-${i}`,
      instruction: `question ${i}`,
      verifier: { kind: 'in_process', fn_name: 'contains', expected: 'e' },
    }))
    const phases = [
      { kind: 'sft', params: { ...params, gradient_accumulation_steps: 2 }, name: 'first' },
      { kind: 'sft', params: { ...params, batch_tokens: 60 } },
    ]
    const runs = [
      { ...twoByTwo.matrix.base_run, name: 'sft' }, // long enough for looks at the benchmark
      { name: 'dpo', data: inMemory(pairs), algorithm: { kind: 'dpo', params } },
      {
        name: 'rejection',
        data: inMemory(tasks),
        algorithm: { kind: 'rejection_sft', params: { ...params, max_tokens: 100 } },
      },
      {
        name: 'rl',
        data: inMemory(tasks),
        algorithm: { kind: 'rl', params: { ...params, num_samples: 4, max_tokens: 12 } },
      },
      { name: 'combo', data: inMemory(chats), algorithm: { kind: 'combo', params: { phases } } },
      {
        name: 'prompts',
        data: inMemory(chats),
        algorithm: { kind: 'prompt_search', params: { candidates: ['Be brief.'] } },
      },
    ]
    const metricsWith = async (backend: object, made: ({ name: string } & object)[]) => {
      const file = experimentProject(folder(), {
        name: 'recipes',
        metadata: { ...twoByTwo.metadata, claim: undefined },
        runs: made.map((run) => ({ seed: 42, ...run, model: { name: 'mock' }, backend })),
      })
      const { arms } = await runExperiment(file)
      expect(arms.map(({ name, status, error }) => [name, status, error])).toEqual(
        made.map(({ name }) => [name, 'completed', undefined]),
      )
      return { scores: arms.map(({ score }) => score), metrics: metricsOf(file) }
    }
    const others = runs.slice(0, 5).map((run) => ({ ...run, name: `other-${run.name}`, seed: 43 }))
    const both = await metricsWith({ kind: 'mock' }, [...runs, ...others])
    const mock = {
      scores: both.scores.slice(0, runs.length),
      metrics: Object.fromEntries(Object.entries(both.metrics).filter(([path]) => !path.startsWith('other-'))),
    }
    expect(Object.keys(mock.metrics).length).toBeGreaterThan(9)
    expect(await metricsWith({ kind: 'local', params: { engine: 'mock' } }, runs)).toEqual(mock)
    const tinker = { kind: 'tinker', params: { preset: 'evsys', base_url: trainer.url } }
    expect(await metricsWith(tinker, runs)).toEqual(mock)
    vi.unstubAllEnvs()
    for (const { name } of runs.slice(0, 5)) {
      const path = `${name}/logs/training/metrics.jsonl`
      expect(mock.metrics[path]).toBeDefined()
      expect(both.metrics[`other-${path}`]).toBeDefined()
      expect(both.metrics[`other-${path}`]).not.toEqual(mock.metrics[path])
    }
  })

  it('of reinforcement learning has the same metrics on local and on tinker, with a real model (TRN-17, RL-209)', async () => {
    const dir = folder()
    await using trainer = await openLocalTrainer({
      ...{ engine: 'cpu', models: ['evsys/nano'], project: dir, dir, keys: ['tml-test'] },
    })
    await using server = await serveTrainer(trainer, { port: 0 })
    vi.stubEnv('TINKER_API_KEY', 'tml-test')
    const task = (i: number) => ({
      task_id: `task-${i}`,
      instruction: `question ${i}`,
      verifier: { kind: 'in_process', fn_name: 'contains', expected: 'e' },
    })
    const params = { max_steps: 3, batch_size: 2, num_samples: 3, max_tokens: 4, learning_rate: 0.01, lora_rank: 2 }
    const schedules = inFullLane ? [0, 1] : [1]
    const metricsWith = async (backend: object) => {
      const file = experimentProject(folder(), {
        name: 'rl',
        runs: schedules.map((off) => ({
          name: `off-policy-${off}`, // what is drawn by which weights follows from the step, not from who is faster
          data: { source_kind: 'in_memory', rows: [task(0), task(1), task(2)] },
          model: { name: 'evsys/nano' },
          algorithm: { kind: 'rl', params: { ...params, max_steps_off_policy: off } },
          backend,
        })),
      })
      const { arms } = await runExperiment(file)
      expect(arms.map(({ status, error }) => [status, error])).toEqual(arms.map(() => ['completed', undefined]))
      return metricsOf(file)
    }
    const local = await metricsWith({ kind: 'local' })
    const tinker = await metricsWith({ kind: 'tinker', params: { preset: 'evsys', base_url: server.url } })
    vi.unstubAllEnvs()
    expect(Object.keys(local)).toHaveLength(schedules.length)
    expect(tinker).toEqual(local)
  })

  it('trains a real model on this machine, with its own chat template (TRN-17)', async () => {
    const { matrix, metadata } = twoByTwo
    const [val] = metadata.benchmark
    const { base_run } = matrix
    const file = experimentProject(folder(), {
      ...twoByTwo,
      metadata: { ...metadata, claim: undefined, benchmark: [{ ...val, run_every: 2, num_samples: 1, max_tokens: 4 }] },
      n_repeats: 1,
      matrix: {
        axes: { 'algorithm.params.learning_rate': [0.01] },
        base_run: {
          ...base_run,
          model: { name: 'evsys/nano' },
          algorithm: { kind: 'sft', params: { max_steps: 3, batch_size: 4, lora_rank: 4, save_every: 2 } },
          backend: { kind: 'local' },
        },
      },
    })
    const result = await runExperiment(file)
    expect(result.arms.map(({ status, error }) => [status, error])).toEqual([['completed', undefined]])
    expect(Object.keys(metricsOf(file)).length).toBeGreaterThan(1)
  })
})

const rows = ['ab', 'ba and more', 'c'].map((text) => {
  const tokens = Int32Array.from(Buffer.from(`${text}.`))
  const shape = [tokens.length - 1]
  const weights = Float64Array.from(
    shape[0] === undefined ? [] : Array.from({ length: shape[0] }, (_, at) => 1 / (at + 3)),
  )
  return {
    tokens: tokens.subarray(0, -1),
    lossInputs: { target_tokens: { data: tokens.subarray(1), shape }, weights: { data: weights, shape } },
  }
})
const adam = { learningRate: 0.03, beta1: 0.9, beta2: 0.95, eps: 1e-12, weightDecay: 0.01, gradClipNorm: 1 }
const squares: Loss = {
  custom: (_data, logprobs) => ({
    loss: logprobs.flatMap(({ data }) => [...data]).reduce((sum, p) => sum + p * p, 0),
    gradients: logprobs.map(({ data, shape }) => ({ data: Float64Array.from(data, (p) => 2 * p), shape })),
  }),
}

/** Passes with a named and a custom loss, steps, a save, a load, samples: every number that comes back. */
async function numbersOf(open: (seed: number) => Promise<OpenBackend>) {
  const numbers: unknown[] = []
  await using backend = await open(5)
  const { service, modelId, engineId } = backend
  for (const loss of [{ name: 'cross_entropy' }, squares, { name: 'cross_entropy' }]) {
    const passed = service.forwardBackward(modelId, rows, loss)
    const stepped = service.optimStep(modelId, adam)
    const { outputs, metrics } = await passed
    numbers.push(
      outputs.map(({ logprobs }) => [...(logprobs?.data ?? [])]),
      metrics,
      await stepped,
    )
  }
  const state = await service.save(modelId, 'state', { kind: 'state' })
  const weights = [await service.snapshot(modelId), await service.save(modelId, 'sampler', { kind: 'sampler' })]
  for (const model of [...weights, { baseModel: 'evsys/tiny' }]) {
    const request = {
      prompt: Int32Array.of(97, 98),
      numSamples: 2,
      maxTokens: 6,
      temperature: 1,
      seed: 4,
      promptLogprobs: true,
    }
    const samples = await service.sample({ model, ...request })
    numbers.push(
      samples.map(({ tokens, logprobs, promptLogprobs }) => [[...tokens], [...logprobs], [...(promptLogprobs ?? [])]]),
    )
  }
  await using resumed = await open(6)
  await resumed.service.load(resumed.modelId, state, { optimizer: true })
  const after = await resumed.service.forward(resumed.modelId, rows, { name: 'cross_entropy' })
  return { engineId, numbers: [...numbers, after.metrics] }
}

describe('backends', { timeout: 120_000 }, () => {
  it('give the same numbers for the same engine and seed, in this process and over HTTP (TRN-17)', async () => {
    const trainer = await start()
    const folders = { mock: folder(), local: join(folder(), '.evsys', 'runs', 'x'), tinker: folder() }
    const shared = { model: ModelConfig.parse({ name: 'evsys/tiny' }), loraRank: 4 }
    const mock = await numbersOf((seed) =>
      mockBackend.open({ ...pluginContext(mockBackend), ...shared, seed, runDir: folders.mock }),
    )
    const local = await numbersOf((seed) =>
      localBackend.open({ ...pluginContext(localBackend, { engine: 'mock' }), ...shared, seed, runDir: folders.local }),
    )
    const params = { preset: 'evsys', base_url: trainer.url } as const
    const tinker = await numbersOf((seed) =>
      tinkerBackend.open({
        ...pluginContext(tinkerBackend, params),
        ...shared,
        seed,
        runDir: folders.tinker,
        secret: () => 'tml-test',
      }),
    )
    expect(local).toEqual(mock)
    expect(tinker).toEqual(mock)
  })

  it('that cannot start say why (TRN-17)', async () => {
    const model = ModelConfig.parse({ name: './no-such-model' })
    const context = { ...pluginContext(localBackend), model, loraRank: 4, seed: 1, runDir: folder() }
    await expect(localBackend.open(context)).rejects.toMatchObject({ code: 'MODEL_MISSING' })
  })
})
