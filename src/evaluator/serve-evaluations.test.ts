import { describe, expect, it } from 'vitest'
import { benchmarkFile } from '../../tests/benchmark-file.ts'
import { pluginContext } from '../../tests/plugin-context.ts'
import { runAssignment } from '../../tests/run-assignment.ts'
import { temporaryFolders } from '../../tests/temporary-folder.ts'
import { byteTokenizer, mockBackend, plainChat } from '../backends/index.ts'
import type { SampleReq, SealedBenchmark } from '../contracts/index.ts'
import { createRegistry, defineBackend, EvsysError } from '../kernel/index.ts'
import { AnsweringPlaces } from './open-answering.ts'
import { OpenEvaluation } from './serve-evaluations.ts'

const folder = temporaryFolders()
const renderer = await plainChat.open({ ...pluginContext(plainChat), tokenizer: byteTokenizer })
const tasks = ['a', 'b'].map((task_id) => ({ task_id, instruction: `say ${task_id}` }))
const { signal } = new AbortController()

/** Asks weights that say `ok`, unless `fails` says why they do not. */
async function ask(
  changes: Partial<SealedBenchmark>,
  { seed = 1, step = 0, fails = (_r: SampleReq): unknown => undefined } = {},
) {
  const requests: SampleReq[] = []
  const sample = async (request: SampleReq) => {
    requests.push(request)
    const failure = fails(request)
    if (failure !== undefined) throw failure
    const tokens = byteTokenizer.encode('ok')
    return Array.from({ length: request.numSamples }, () => ({
      tokens,
      logprobs: new Float64Array(tokens.length),
      stopReason: 'length' as const,
    }))
  }
  const backend = defineBackend({
    kind: 'mock',
    summary: 'Says ok.',
    params: mockBackend.params,
    open: () => Promise.reject(new Error('no model in training is wanted')),
    openWeights: async () => ({ sample, tokenizer: byteTokenizer, maxContext: 100, async [Symbol.asyncDispose]() {} }),
  })
  const registry = createRegistry()
  for (const plugin of [backend, plainChat]) registry.add(plugin, { rank: 'built-in', label: 'test' })
  const benchmark = benchmarkFile(folder(), { name: 'val', ...changes })
  const { config, run_id, run_dir } = runAssignment(folder())
  await using places = new AnsweringPlaces()
  const of = { run_id, run_dir, config, benchmark, seed, step, weights: { baseModel: 'm' } }
  await using evaluation = await OpenEvaluation.begin(
    { ...of, agent_elsewhere: false, secrets: {}, addresses: {}, cassette_dir: folder() },
    places,
    { registry, signal, log() {}, need: async () => {} },
    { act: () => Promise.reject(new Error('no agent')), onAnswer() {} },
  )
  return { predictions: await evaluation.answer(tasks, signal), requests }
}

describe('the answers to a benchmark', () => {
  it('are one per task and sample, in order, with what they took (LAB-54)', async () => {
    const { predictions } = await ask({ num_samples: 2 })
    expect(predictions.map(({ task_id, sample, output }) => [task_id, sample, output])).toEqual([
      ['a', 0, 'ok'],
      ['a', 1, 'ok'],
      ['b', 0, 'ok'],
      ['b', 1, 'ok'],
    ])
    expect(predictions[0]).toMatchObject({ complete: false, completion_tokens: 2, prompt_tokens: expect.any(Number) })
    for (const { latency_s } of predictions) expect(latency_s).toBeGreaterThanOrEqual(0)
  })

  it('are drawn at an address of their own: seed, benchmark, step and task (LAB-54)', async () => {
    const seeds = async (changes: Partial<SealedBenchmark>, at: object = {}) =>
      (await ask(changes, at)).requests.map(({ seed }) => seed)
    const [first, second] = await seeds({})
    expect(first).not.toBe(second)
    expect(await seeds({})).toEqual([first, second])
    for (const other of [await seeds({}, { seed: 2 }), await seeds({}, { step: 1 }), await seeds({ name: 'test' })]) {
      expect(other).not.toContain(first)
    }
  })

  it('are put in the words of the benchmark (LAB-54)', async () => {
    const chat_template = { system_prompt: 'Be brief.', user_template: '[{prompt}] {prompt}' }
    const { requests } = await ask({ chat_template })
    const wanted = renderer.prompt([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: '[say a] say a' },
    ])
    expect([...(requests[0]?.prompt ?? [])]).toEqual([...wanted])
  })

  it('that fail are kept with their error; the others go on (LAB-54)', async () => {
    let asked = 0
    const fails = () => (asked++ === 0 ? new EvsysError('BACKEND_FAILED', 'gone') : undefined)
    const { predictions } = await ask({ n_concurrent: 1 }, { fails })
    expect(predictions).toMatchObject([
      { task_id: 'a', sample: 0, error: { code: 'BACKEND_FAILED', message: 'gone' } },
      { task_id: 'b', sample: 0, output: 'ok' },
    ])
  })
})
