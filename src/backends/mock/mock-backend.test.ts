import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { CustomLoss, Datum, Loss, OpenBackend, SamplerRef, StateRef } from '../../contracts/index.ts'
import { manualClock } from '../../kernel/index.ts'
import { byteTokenizer } from '../models/mock-models.ts'
import { mockBackend } from './mock-backend.ts'
import { mockService, openMockTrainer } from './mock-trainer.ts'

const folder = temporaryFolders()
const adam = { learningRate: 0.05, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
const ce: Loss = { name: 'cross_entropy' }

type Options = {
  params?: object | undefined
  runDir?: string | undefined
  seed?: number | undefined
  rank?: number | undefined
  signal?: AbortSignal | undefined
}
function open({ params = {}, runDir = folder(), seed = 1, rank = 4, signal }: Options = {}): Promise<OpenBackend> {
  const context = pluginContext(mockBackend, params, signal === undefined ? {} : { signal })
  return mockBackend.open({ ...context, model: { name: 'mock' }, loraRank: rank, seed, runDir })
}

function datum(text: string): Datum {
  const tokens = byteTokenizer.encode(text)
  const length = tokens.length - 1
  return {
    tokens: tokens.slice(0, -1),
    lossInputs: {
      target_tokens: { data: tokens.slice(1), shape: [length] },
      weights: { data: new Float32Array(length).fill(1), shape: [length] },
    },
  }
}
const data = ['hello there', 'hello world'].map(datum)
const prompt = byteTokenizer.encode('h')

async function train({ service, modelId }: OpenBackend, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    const [pass, step] = [service.forwardBackward(modelId, data, ce), service.optimStep(modelId, adam)]
    await pass
    await step
  }
}

async function lossOf({ service, modelId }: OpenBackend, loss: Loss = ce): Promise<number> {
  return (await service.forward(modelId, data, loss)).metrics['loss:sum'] ?? Number.NaN
}

function sparse(path: string): void {
  writeFileSync(path, '')
  truncateSync(path, 6e9)
}

describe('the mock backend', () => {
  it('trains: the loss falls (PLG-14)', async () => {
    await using backend = await open()
    const before = await lossOf(backend)
    await train(backend, 30)
    expect(await lossOf(backend)).toBeLessThan(before / 2)
  })

  it('takes requests in the order in which they are made, awaited or not (PLG-14)', async () => {
    const weights = async (isAwaited: boolean) => {
      const runDir = folder()
      await using backend = await open({ runDir })
      const { service, modelId } = backend
      const requests = [
        () => service.forwardBackward(modelId, data, ce),
        () => service.optimStep(modelId, adam),
        () => service.forwardBackward(modelId, data.slice(1), ce),
        () => service.optimStep(modelId, adam),
        () => service.save(modelId, 'end', { kind: 'state' }),
      ]
      const sent: Promise<unknown>[] = []
      for (const request of requests) {
        sent.push(request())
        if (isAwaited) await sent.at(-1)
      }
      await Promise.all(sent)
      return readFileSync(join(runDir, 'checkpoints/state/end.mock'))
    }
    expect(await weights(false)).toEqual(await weights(true))
  })

  it('resumes from a saved state to the very weights of an uninterrupted run (PLG-14)', async () => {
    const [whole, broken] = [folder(), folder()]
    {
      await using backend = await open({ runDir: whole })
      await train(backend, 10)
      await backend.service.save(backend.modelId, 'end', { kind: 'state' })
    }
    let saved: StateRef
    {
      await using backend = await open({ runDir: broken })
      await train(backend, 4)
      saved = await backend.service.save(backend.modelId, 'step_4', { kind: 'state' })
      await train(backend, 2)
    }
    {
      await using backend = await open({ runDir: broken, seed: 99 })
      await backend.service.load(backend.modelId, saved, { optimizer: true })
      await train(backend, 6)
      await backend.service.save(backend.modelId, 'end', { kind: 'state' })
    }
    const bytes = (dir: string) => readFileSync(join(dir, 'checkpoints/state/end.mock'))
    expect(bytes(broken)).toEqual(bytes(whole))
  })

  it('samples from what was saved, also while training goes on, and from the base (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    await train(backend, 40)
    const trained = await service.snapshot(modelId)
    const saved = await service.save(modelId, 'a', { kind: 'sampler' })
    const request = { prompt, numSamples: 2, maxTokens: 8, temperature: 1, seed: 5 }
    const before = await service.sample({ ...request, model: trained })
    await train(backend, 3)
    expect(await service.sample({ ...request, model: trained })).toEqual(before)
    expect(await service.sample({ ...request, model: saved })).toEqual(before)
    expect(await service.sample({ ...request, model: { baseModel: 'mock' } })).not.toEqual(before)
    const greedy = await service.sample({ ...request, model: trained, temperature: 0, numSamples: 1, maxTokens: 2 })
    expect(byteTokenizer.decode(greedy[0]?.tokens ?? new Int32Array())).toBe('el')
  })

  it('samples from many weights at once, more than stay loaded (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    const refs = []
    for (let i = 0; i < 12; i++) {
      await train(backend, 1)
      refs.push(await service.snapshot(modelId))
    }
    const request = { prompt, numSamples: 1, maxTokens: 6, temperature: 1, seed: 5, promptLogprobs: false }
    const both = [...refs, ...refs.toReversed()]
    const together = await Promise.all(both.map((model) => service.sample({ ...request, model })))
    for (const [i, model] of both.entries()) expect(await service.sample({ ...request, model })).toEqual(together[i])
  })

  it('computes custom losses by the gradient of their log-probabilities (PLG-14)', async () => {
    const weights = async (loss: Loss) => {
      const runDir = folder()
      await using backend = await open({ runDir })
      const { service, modelId } = backend
      const pass = await service.forwardBackward(modelId, data, loss)
      await service.optimStep(modelId, adam)
      await service.save(modelId, 'a', { kind: 'state' })
      return { pass, bytes: readFileSync(join(runDir, 'checkpoints/state/a.mock')) }
    }
    const nll: CustomLoss = {
      custom: (_data, logprobs) => ({
        loss: -logprobs.flatMap(({ data: p }) => [...p]).reduce((sum, value) => sum + value, 0),
        gradients: logprobs.map(({ data: p, shape }) => ({ data: Float64Array.from(p, () => -1), shape })),
        metrics: { mine: 3 },
      }),
    }
    const [named, custom] = [await weights(ce), await weights(nll)]
    expect(custom.bytes).toEqual(named.bytes)
    expect(custom.pass.outputs).toEqual(named.pass.outputs)
    expect(custom.pass.metrics).toEqual({ mine: 3, 'loss:sum': expect.closeTo(named.pass.metrics['loss:sum'] ?? 0, 5) })
  })

  it('attributes what a custom loss throws or gets wrong, and changes nothing (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    const broken: CustomLoss = {
      custom: () => {
        throw new Error('my mistake')
      },
    }
    const short: CustomLoss = { custom: () => ({ loss: 0, gradients: [] }) }
    await expect(service.forwardBackward(modelId, data, broken)).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'custom loss: my mistake',
    })
    await expect(service.forwardBackward(modelId, data, short)).rejects.toThrow('0 gradients for 2 datums')
    expect(await service.optimStep(modelId, adam)).toEqual({ 'optim/grad_norm': 0 })
  })

  it('writes checkpoints whole, under names that are new (PLG-14)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir })
    const { service, modelId } = backend
    const ref = await service.save(modelId, 'step_1', { kind: 'state' })
    expect(ref).toEqual({
      kind: 'state',
      uri: expect.stringMatching(/^mock:\/\/\/.*\/checkpoints\/state\/step_1\.mock$/),
    })
    await expect(service.save(modelId, 'step_1', { kind: 'state' })).rejects.toThrow('exists already')
    await service.save(modelId, 'step_1', { kind: 'sampler' })
    for (const name of ['../x', 'a/b', '', '.hidden', 'a b']) {
      await expect(service.save(modelId, name, { kind: 'state' })).rejects.toThrow('a name has letters, digits')
    }
    expect(readdirSync(join(runDir, 'checkpoints/state'))).toEqual(['step_1.mock'])
  })

  it.each([
    ['no address', 'https://example.com/x', /no address of a mock checkpoint/],
    ['another machine', 'mock://host/x', /no address of a mock checkpoint/],
    ['a missing file', 'mock:///nowhere/x.mock', /there is no checkpoint at/],
  ])('refuses to load %s (PLG-14)', async (_name, uri, message) => {
    await using backend = await open()
    await expect(
      backend.service.load(backend.modelId, { kind: 'state', uri }, { optimizer: true }),
    ).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(message),
    })
  })

  it('refuses a damaged checkpoint, for loading and for sampling (PLG-14)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir })
    const { service, modelId } = backend
    const sampler = await service.save(modelId, 'a', { kind: 'sampler' })
    const path = join(runDir, 'checkpoints/sampler/a.mock')
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(0, bytes.length - 1))
    const request = { model: sampler, prompt, numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 }
    await expect(service.sample(request)).rejects.toThrow('damaged')
    writeFileSync(path, bytes)
    expect(await service.sample(request)).toHaveLength(1)
  })

  it('refuses at once what is no file, or leads elsewhere, in place of a checkpoint (PLG-14)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir })
    const { service, modelId } = backend
    const model = await service.save(modelId, 'a', { kind: 'sampler' })
    const path = join(runDir, 'checkpoints/sampler/a.mock')
    const request = { model, prompt, numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 }
    renameSync(path, `${path}.old`)
    for (const put of [() => symlinkSync('/dev/zero', path), () => mkdirSync(path), () => sparse(path)]) {
      put()
      await expect(service.sample(request)).rejects.toMatchObject({ code: 'BACKEND_REFUSED' })
      rmSync(path, { recursive: true })
    }
    renameSync(`${path}.old`, path)
    expect(await service.sample(request)).toHaveLength(1)
  })

  it('loads only first, samples only from sampler weights, knows one model (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    const state = await service.save(modelId, 'a', { kind: 'state' })
    await expect(service.load(modelId, state, { optimizer: true })).rejects.toThrow('load into a new model')
    const model = state as unknown as SamplerRef // a caller without types
    await expect(
      service.sample({ model, prompt, numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 }),
    ).rejects.toThrow('samples are drawn from')
    await expect(service.optimStep('other', adam)).rejects.toThrow('no model is called "other"')
  })

  it('fails where its params ask for it (PLG-14)', async () => {
    await expect(open({ params: { fail_on_prepare: true } })).rejects.toMatchObject({ code: 'BACKEND_FAILED' })
    await using backend = await open({ params: { fail_at_step: 1 } })
    const { service, modelId } = backend
    await service.optimStep(modelId, adam)
    await expect(service.optimStep(modelId, adam)).rejects.toThrow('step 1 fails, as asked')
    await service.optimStep(modelId, adam)
  })

  it('ends its requests when the run is cancelled or closed (PLG-14)', async () => {
    const controller = new AbortController()
    const backend = await open({ signal: controller.signal })
    const { service, modelId } = backend
    const held = service.optimStep(modelId, adam)
    controller.abort(new Error('cancelled'))
    await expect(held).rejects.toThrow('cancelled')
    await expect(service.optimStep(modelId, adam)).rejects.toThrow('cancelled')
    await backend[Symbol.asyncDispose]()
    const closed = await open()
    const waiting = closed.service.optimStep(closed.modelId, adam)
    await closed[Symbol.asyncDispose]()
    await expect(waiting).rejects.toThrow(/was closed|session has ended/)
  })

  it('says what decides its bytes, and trains all weights without a rank (PLG-13)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir, rank: undefined })
    expect(backend.engineId).toMatch(/^mock-[0-9a-f]{16}$/)
    expect(backend.tokenizer.vocabSize).toBe(264)
    await train(backend, 1)
    expect(existsSync(join(runDir, 'checkpoints'))).toBe(false)
  })
})

describe('the latency of the mock service', () => {
  it('delays answers, not work: requests sent together arrive together (PLG-14)', async () => {
    const clock = manualClock()
    const { signal } = new AbortController()
    const { client, checkpoints, close } = await openMockTrainer(folder(), signal)
    const { modelId } = await client.createModel({ baseModel: 'mock' })
    const service = mockService(client.service, { checkpoints, signal, clock, latencyMs: 100 })
    const arrived: string[] = []
    const requests = [
      service.forwardBackward(modelId, data, ce).then(() => arrived.push('pass')),
      service.optimStep(modelId, adam).then(() => arrived.push('step')),
      service.snapshot(modelId).then(() => arrived.push('snapshot')),
    ]
    await clock.untilSleeping(3)
    await clock.advance(99)
    expect(arrived).toEqual([])
    await clock.advance(1)
    await Promise.all(requests)
    expect(arrived.toSorted()).toEqual(['pass', 'snapshot', 'step'])
    await client.close()
    await close()
  })
})
