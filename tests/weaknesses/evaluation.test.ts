// What the peer's evaluation gets wrong, each by its number: answers, metrics and prompts, without a training run.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { byteTokenizer, mockBackend } from '../../src/backends/index.ts'
import { Benchmark, type OpenInferenceClient, type OpenRenderer, SealedBenchmark } from '../../src/contracts/index.ts'
import { answerWithClient, openScorer, passAtK, taskMessages } from '../../src/evaluate/index.ts'
import { AnsweringPlaces } from '../../src/evaluator/open-answering.ts'
import { OpenEvaluation } from '../../src/evaluator/serve-evaluations.ts'
import { createRegistry, defineBackend, defineRenderer } from '../../src/kernel/index.ts'
import { runAssignment } from '../run-assignment.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()
const { signal } = new AbortController()
const template = { system_prompt: 'Be brief.', user_template: 'Q: {prompt}\nA:' }

describe('evaluation', { timeout: 240_000 }, () => {
  it('W6: lost rollouts and a verifier that throws stay in the denominator, and are no zeros (LAB-53)', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'val'))
    mkdirSync(join(dir, 'src/plugins'), { recursive: true })
    writeFileSync(
      join(dir, 'src/plugins/moody.ts'),
      `import { defineVerifier, z } from 'evsys/plugin'
export default defineVerifier({ kind: 'moody', summary: 'Throws at times.', params: z.strictObject({}),
  verify({ output }) { if (output === 'throw') throw new Error('away'); return output === 'right' ? 1 : 0 } })`,
    )
    const tasks = ['a', 'b', 'c', 'd'].map((task_id) => ({
      task_id,
      instruction: task_id,
      verifier: { kind: 'in_process', fn_name: 'moody', expected: null },
    }))
    writeFileSync(join(dir, 'val/tasks.jsonl'), tasks.map((task) => `${JSON.stringify(task)}\n`).join(''))
    const benchmark = Benchmark.parse({ name: 'val', path: join(dir, 'val'), metrics: ['pass_rate'] })
    await using scorer = await openScorer({ benchmark, projectDir: dir, plugins: [], signal })
    const lost = { code: 'BACKEND_FAILED' as const, message: 'the service was away' }
    const scored = await scorer.score([
      { task_id: 'a', sample: 0, output: 'right' },
      { task_id: 'b', sample: 0, output: 'wrong' },
      { task_id: 'c', sample: 0, error: lost },
      { task_id: 'd', sample: 0, output: 'throw' },
    ])
    expect(scored).toMatchObject({
      metrics: { pass_rate: 0.25 },
      bounds: { pass_rate: [0.25, 0.75] },
      rewards: { a: [1], b: [0], c: [null], d: [null] },
      n_tasks: 4,
      n_infra_failed: 2,
    })
  })

  it('W7: a checkpoint in training and a model behind a client are asked in the same words, of the same length (LAB-53)', async () => {
    const asked: unknown[] = []
    const benchmark = Benchmark.parse({ name: 'val', path: 'val', chat_template: template })
    expect(benchmark.max_tokens).toBe(Benchmark.parse({ name: 'test', path: 'test', split: 'test' }).max_tokens)
    const client: OpenInferenceClient = {
      async generate({ messages, maxTokens }) {
        asked.push({ messages, maxTokens })
        return { text: '', stopReason: 'stop', usage: { promptTokens: 0, completionTokens: 0, latencyS: 0 } }
      },
    }
    const tasks = [{ task_id: 'a', instruction: 'What {prompt} is?' }]
    await answerWithClient({ benchmark, tasks, client, seed: 1, signal })
    const renderer: OpenRenderer = {
      conversation: () => ({ tokens: new Int32Array(), message: new Int32Array(), produced: new Uint8Array() }),
      prompt(messages) {
        asked.push({ messages, maxTokens: benchmark.max_tokens })
        return new Int32Array([1])
      },
      parse: () => ({ message: { role: 'assistant', content: '' }, complete: true }),
      stop: [],
    }
    const { name, split, run_every, num_samples, max_tokens, temperature, n_concurrent, chat_template } = benchmark
    const sealed = SealedBenchmark.parse({
      name,
      split,
      run_every,
      num_samples,
      max_tokens,
      temperature,
      n_concurrent,
      chat_template,
      tasks_file: 'none',
    })
    const sample = async () => [{ tokens: new Int32Array(), logprobs: new Float64Array(), stopReason: 'stop' as const }]
    const weights = { sample, tokenizer: byteTokenizer, maxContext: 100, async [Symbol.asyncDispose]() {} }
    const registry = createRegistry()
    const backend = defineBackend({
      kind: 'mock',
      summary: 'Says nothing.',
      params: mockBackend.params,
      open: () => Promise.reject(new Error('nothing is trained')),
      openWeights: async () => weights,
    })
    const chat = defineRenderer({
      kind: 'plain_chat',
      summary: 'Listens.',
      params: z.strictObject({}),
      open: async () => renderer,
    })
    for (const plugin of [backend, chat]) registry.add(plugin, { rank: 'built-in', label: 'test' })
    const { config, run_id, run_dir } = runAssignment(folder())
    await using places = new AnsweringPlaces()
    const of = { run_id, run_dir, config, benchmark: sealed, seed: 1, weights: { baseModel: 'm' } }
    await using evaluation = await OpenEvaluation.begin(
      { ...of, agent_elsewhere: false, secrets: {}, addresses: {}, cassette_dir: folder() },
      places,
      { registry, signal, log() {}, need: async () => {} },
      { act: () => Promise.reject(new Error('no agent')), onAnswer() {} },
    )
    await evaluation.answer(tasks, signal)
    expect(asked).toHaveLength(2)
    expect(asked[0]).toEqual(asked[1])
    expect(taskMessages('x', benchmark)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Q: x\nA:' },
    ])
  })

  it('pass@k is unbiased and takes any k; more samples than k change nothing in the mean (LAB-53)', () => {
    const usage: never[] = []
    // Three of ten pass: 1 - C(7, 5) / C(10, 5). The first five alone would say 1.
    const rewards = [[1, 1, 1, 0, 0, 0, 0, 0, 0, 0]]
    expect(passAtK.compute(rewards, { params: { k: 5 }, usage })).toBeCloseTo(1 - 21 / 252, 12)
    expect(passAtK.minSamples?.({ k: 7 })).toBe(7)
  })
})
