import { describe, expect, it } from 'vitest'
import { openLocalTrainer } from '../../src/backends/local/open-local-trainer.ts'
import * as tinker from '../../src/contracts/tinker/index.ts'
import { createTinkerClient } from '../../src/tinker/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'

const folder = temporaryFolders()

function datum(tokens: readonly number[]) {
  const shape = [tokens.length - 1]
  return {
    tokens: Int32Array.from(tokens.slice(0, -1)),
    lossInputs: {
      target_tokens: { data: Int32Array.from(tokens.slice(1)), shape },
      weights: { data: new Float32Array(tokens.length - 1).fill(1), shape },
    },
  }
}

const data = [datum([5, 6, 7, 8, 9, 10]), datum([20, 21, 22])]
const adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-12 }
const ce = { name: 'cross_entropy' }

async function started(engine: 'cpu' | 'reference') {
  const trainer = await openLocalTrainer({
    engine,
    models: ['evsys/nano'],
    project: folder(),
    dir: folder(),
    keys: [],
  })
  const ask = (path: string, init: RequestInit = {}) =>
    trainer.fetch(
      new Request(`http://trainer${path}`, {
        ...init,
        headers: { 'x-api-key': 'tml-x', 'content-type': 'application/json' },
      }),
    )
  const client = await createTinkerClient({
    preset: 'evsys',
    baseUrl: 'http://trainer',
    fetch: (input, init) => trainer.fetch(new Request(input, init)),
  })
  return {
    client,
    ask,
    async [Symbol.asyncDispose]() {
      await client.close()
      await trainer[Symbol.asyncDispose]()
    },
  }
}

describe.each(['reference', 'cpu'] as const)('the %s engine behind the protocol', { timeout: 120_000 }, (engine) => {
  it('starts every adapter at the base model, trains the parts that are switched on alone (conformance 42, 43) (TRN-8)', async () => {
    await using running = await started(engine)
    const { client, ask } = running
    const parts = { trainAttention: false, trainMlp: false, trainUnembedding: false }
    const specs = [
      {},
      { ...parts, trainAttention: true },
      { ...parts, trainMlp: true },
      { ...parts, trainUnembedding: true },
    ]
    const starts: unknown[] = []
    const trained: string[][] = []
    for (const spec of specs) {
      const model = await client.createModel({ baseModel: 'evsys/nano', rank: 4, seed: 3, ...spec })
      starts.push((await model.forward(data, ce)).outputs.map(({ logprobs }) => [...(logprobs?.data ?? [])]))
      await Promise.all([model.forwardBackward(data, ce), model.optimStep(adam)])
      const path = await model.saveForSampler('a')
      trained.push(await tensorNames(ask, path))
    }
    for (const each of starts) expect(each).toEqual(starts[0])
    const [all = [], attention = [], mlp = [], unembedding = []] = trained
    expect(all.length).toBe(attention.length + mlp.length + unembedding.length)
    expect(attention.every((name) => name.includes('self_attn'))).toBe(true)
    expect(mlp.every((name) => name.includes('mlp'))).toBe(true)
    expect(unembedding.every((name) => name.includes('lm_head'))).toBe(true)
  })

  it('samples with the log-probabilities of its own forward pass, all weights in training (conformance 52) (TRN-10)', async () => {
    await using running = await started(engine)
    const { client } = running
    const model = await client.createModel({ baseModel: 'evsys/nano', rank: 'full', seed: 3 })
    await Promise.all([model.forwardBackward(data, ce), model.optimStep(adam)])
    const sampler = await client.sampler({ samplingSessionId: await model.snapshot() })
    const prompt = Int32Array.of(5, 6)
    const request = { prompt, numSamples: 2, maxTokens: 6, temperature: 1, seed: 9, stop: [], promptLogprobs: true }
    for (const { tokens, logprobs, promptLogprobs } of await sampler.sample(request)) {
      const passed = await model.forward([datum([...prompt, ...tokens])], ce)
      const goal = [...(passed.outputs[0]?.logprobs?.data ?? [])]
      expect([...logprobs]).toEqual(goal.slice(1))
      expect([...(promptLogprobs ?? [])]).toEqual([Number.NaN, goal[0]])
    }
  })

  it('answers chats with its own template (TRN-15)', async () => {
    await using running = await started(engine)
    const body = JSON.stringify({
      model: 'evsys/nano',
      messages: [{ role: 'user', content: 'hello' }],
      max_tokens: 8,
      seed: 1,
      logprobs: true,
    })
    const answer = await running.ask('/v1/chat/completions', { method: 'POST', body })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: expect.any(String) }, finish_reason: expect.any(String) }],
    })
  })
})

/** The tensors in the downloaded adapter of a checkpoint. */
async function tensorNames(ask: (path: string) => Promise<Response>, path: string): Promise<string[]> {
  const parsed = tinker.parseTinkerPath(path)
  if (parsed === undefined) throw new Error(path)
  const found = await ask(`/api/v1/training_runs/${parsed.runId}/checkpoints/${tinker.checkpointId(parsed)}/archive`)
  expect(found.status).toBe(302)
  const archive = await ask(new URL(found.headers.get('location') ?? '').pathname)
  const tar = Buffer.from(await archive.arrayBuffer())
  const at = tar.indexOf('adapter_model.safetensors')
  expect(tar.indexOf('adapter_config.json')).toBeGreaterThanOrEqual(0)
  const header = JSON.parse(tar.toString('utf8', at + 520, at + 520 + Number(tar.readBigUInt64LE(at + 512))))
  return Object.keys(header).filter((name) => name !== '__metadata__')
}
