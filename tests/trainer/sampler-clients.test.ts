import { describe, expect, it } from 'vitest'
import { localClient, tinkerClient } from '../../src/backends/clients/client-plugins.ts'
import { byteTokenizer, openPlainChat } from '../../src/backends/models/mock-models.ts'
import type { GenerateRequest } from '../../src/contracts/index.ts'
import { openInferenceClient } from '../../src/models/index.ts'
import { clientServices } from '../client-services.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { datum, forwardBackward, optimStep, runningTrainers } from './running-trainer.ts'

const start = runningTrainers()
const folder = temporaryFolders()
const { signal } = new AbortController()
const ask: GenerateRequest = { messages: [{ role: 'user', content: 'hi' }], maxTokens: 12, temperature: 0, seed: 3 }
const services = () => clientServices({ TINKER_API_KEY: 'tml-test' }, [localClient, tinkerClient])

/** Weights that answer `hi` with `yes`, and the trainer that has them. */
async function taught() {
  const trainer = await start()
  const model = await trainer.model(await trainer.session())
  const { tokens } = openPlainChat(byteTokenizer).conversation([...ask.messages, { role: 'assistant', content: 'yes' }])
  for (let seq = 1; seq < 60; seq += 2) {
    await trainer.run('forward_backward', forwardBackward(model, seq, [datum([...tokens])]))
    await trainer.run('optim_step', optimStep(model, seq + 1, { learning_rate: 0.1 }))
  }
  const { path } = await trainer.run('save_weights_for_sampler', { model_id: model, seq_id: 61, path: 'a' })
  return { trainer, checkpoint: String(path) }
}

describe('tinker', () => {
  const spec = (url: string, more: object = {}) => ({
    kind: 'tinker',
    params: { model: 'evsys/tiny', preset: 'evsys', base_url: url, tokenizer: 'bytes', ...more },
  })

  it('answers from trained weights, with its tokens (INF-11)', async () => {
    const { trainer, checkpoint } = await taught()
    const client = await openInferenceClient(spec(trainer.url, { checkpoint }), services())
    const answer = await client.generate(ask, signal)
    expect(answer).toMatchObject({ text: 'yes', stopReason: 'stop', model: checkpoint, usage: { completionTokens: 4 } })
    expect(answer.usage).not.toHaveProperty('costUsd')
    const prompt = openPlainChat(byteTokenizer).prompt(ask.messages)
    expect(answer.tokens).toMatchObject({ prompt, completion: expect.any(Int32Array), policyVersion: 0 })
    expect(answer.tokens?.logprobs).toHaveLength(answer.usage.completionTokens)
    expect(await client.generate({ ...ask, maxTokens: 2 }, signal)).toMatchObject({ text: 'ye', stopReason: 'length' })
    expect(await client.generate({ ...ask, stop: ['s'] }, signal)).toMatchObject({ text: 'ye', stopReason: 'stop' })
    await client[Symbol.asyncDispose]?.()
  })

  it('answers from the base model, and counts by the price that is given (INF-11)', async () => {
    const trainer = await start()
    const client = await openInferenceClient(spec(trainer.url, { price: { input: 1, output: 2 } }), services())
    const { usage, price } = await client.generate({ ...ask, temperature: 1 }, signal)
    expect(price).toEqual({ input: 1, output: 2 })
    expect(usage.costUsd).toBeCloseTo((usage.promptTokens + 2 * usage.completionTokens) / 1e6, 15)
    await client[Symbol.asyncDispose]?.()
  })

  it.each([
    [{ renderer: 'qwen_3' }, {}, 'PLUGIN_UNKNOWN'],
    [{ model: 'nobody/nothing', tokenizer: 'nobody/nothing' }, {}, 'MODEL_MISSING'],
    [{}, { tools: [{ name: 'f', parameters: {} }] }, 'INFERENCE_REFUSED'],
  ])('refuses %j %j (INF-11)', async (params, request, code) => {
    const trainer = await start()
    const asked = openInferenceClient(spec(trainer.url, params), services()).then(async (client) => {
      try {
        return await client.generate({ ...ask, ...request }, signal)
      } finally {
        await client[Symbol.asyncDispose]?.()
      }
    })
    await expect(asked).rejects.toMatchObject({ code, fix: expect.any(String) })
  })
})

describe('local', () => {
  it('starts a trainer, answers at no cost, and ends it (INF-11)', async () => {
    const params = { model: 'evsys/tiny', engine: 'mock', folder: folder() }
    const client = await openInferenceClient({ kind: 'local', params }, services())
    const first = await client.generate(ask, signal)
    expect(first).toMatchObject({ model: 'evsys/tiny', usage: { costUsd: 0, promptTokens: expect.any(Number) } })
    expect((await client.generate(ask, signal)).text).toBe(first.text)
    await client[Symbol.asyncDispose]?.()
    await expect(client.generate(ask, signal)).rejects.toMatchObject({ code: 'BACKEND_REFUSED' })
  })
})
