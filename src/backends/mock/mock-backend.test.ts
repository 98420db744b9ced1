import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pluginContext } from '../../../tests/plugin-context.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import type { CustomLoss, Datum, Loss, OpenBackend, SamplerRef, StateRef } from '../../contracts/index.ts'
import { createMockEngine } from '../../engine/mock/mock-engine.ts'
import { manualClock } from '../../kernel/index.ts'
import { byteTokenizer } from './byte-tokenizer.ts'
import { mockBackend } from './mock-backend.ts'
import { createMockService } from './mock-service.ts'

const folder = temporaryFolders()
const adam = { learningRate: 0.05, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
const ce: Loss = { name: 'cross_entropy' }

type Options = { params?: object; runDir?: string; seed?: number; rank?: number | undefined; signal?: AbortSignal }
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

/** Counts requests as a loop does. */
function counter(start = 0) {
  let seq = start
  return () => ++seq
}

async function train({ service, modelId }: OpenBackend, steps: number, next: () => number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    const [pass, step] = [service.forwardBackward(modelId, data, ce, next()), service.optimStep(modelId, adam, next())]
    await pass
    await step
  }
}

async function lossOf({ service, modelId }: OpenBackend, seq: number, loss: Loss = ce): Promise<number> {
  return (await service.forward(modelId, data, loss, seq)).metrics['loss:sum'] ?? Number.NaN
}

describe('the mock backend', () => {
  it('trains: the loss falls (PLG-14)', async () => {
    await using backend = await open()
    const next = counter()
    const before = await lossOf(backend, next())
    await train(backend, 30, next)
    expect(await lossOf(backend, next())).toBeLessThan(before / 2)
  })

  it('takes requests in the order of their numbers, not of their arrival (PLG-14)', async () => {
    const weights = async (order: readonly number[]) => {
      const runDir = folder()
      await using backend = await open({ runDir })
      const { service, modelId } = backend
      const requests = [
        () => service.forwardBackward(modelId, data, ce, 1),
        () => service.optimStep(modelId, adam, 2),
        () => service.forwardBackward(modelId, data.slice(1), ce, 3),
        () => service.optimStep(modelId, adam, 4),
        () => service.save(modelId, 'end', { kind: 'state', seq: 5 }),
      ]
      await Promise.all(order.map((index) => requests[index]?.()))
      return readFileSync(join(runDir, 'checkpoints/state/end.mock'))
    }
    expect(await weights([4, 3, 2, 1, 0])).toEqual(await weights([0, 1, 2, 3, 4]))
  })

  it('resumes from a saved state to the very weights of an uninterrupted run (PLG-14)', async () => {
    const [whole, broken] = [folder(), folder()]
    {
      await using backend = await open({ runDir: whole })
      const next = counter()
      await train(backend, 10, next)
      await backend.service.save(backend.modelId, 'end', { kind: 'state', seq: next() })
    }
    let saved: StateRef
    {
      await using backend = await open({ runDir: broken })
      const next = counter()
      await train(backend, 4, next)
      saved = await backend.service.save(backend.modelId, 'step_4', { kind: 'state', seq: next() })
      await train(backend, 2, next)
    }
    {
      await using backend = await open({ runDir: broken, seed: 99 })
      const next = counter()
      await backend.service.load(backend.modelId, saved, { optimizer: true, seq: next() })
      await train(backend, 6, next)
      await backend.service.save(backend.modelId, 'end', { kind: 'state', seq: next() })
    }
    const bytes = (dir: string) => readFileSync(join(dir, 'checkpoints/state/end.mock'))
    expect(bytes(broken)).toEqual(bytes(whole))
  })

  it('samples from what was saved, also while training goes on, and from the base (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    const next = counter()
    await train(backend, 40, next)
    const trained = await service.snapshot(modelId, next())
    const saved = await service.save(modelId, 'a', { kind: 'sampler', seq: next() })
    const request = { prompt, numSamples: 2, maxTokens: 8, temperature: 1, seed: 5 }
    const before = await service.sample({ ...request, model: trained })
    await train(backend, 3, next)
    expect(await service.sample({ ...request, model: trained })).toEqual(before)
    expect(await service.sample({ ...request, model: saved })).toEqual(before)
    expect(await service.sample({ ...request, model: { baseModel: 'mock' } })).not.toEqual(before)
    const greedy = await service.sample({ ...request, model: trained, temperature: 0, numSamples: 1, maxTokens: 2 })
    expect(byteTokenizer.decode(greedy[0]?.tokens ?? new Int32Array())).toBe('el')
  })

  it('samples from many weights at once, more than stay loaded (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    const next = counter()
    const refs = []
    for (let i = 0; i < 12; i++) {
      await train(backend, 1, next)
      refs.push(await service.snapshot(modelId, next()))
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
      const pass = await service.forwardBackward(modelId, data, loss, 1)
      await service.optimStep(modelId, adam, 2)
      await service.save(modelId, 'a', { kind: 'state', seq: 3 })
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
    await expect(service.forwardBackward(modelId, data, broken, 1)).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: 'custom loss: my mistake',
    })
    await expect(service.forwardBackward(modelId, data, short, 2)).rejects.toThrow('gradients do not have the shape')
    expect(await service.optimStep(modelId, adam, 3)).toEqual({ 'optim/grad_norm': 0 })
  })

  it('writes checkpoints whole, under names that are new (PLG-14)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir })
    const { service, modelId } = backend
    const ref = await service.save(modelId, 'step_1', { kind: 'state', seq: 1 })
    expect(ref).toEqual({
      kind: 'state',
      uri: expect.stringMatching(/^mock:\/\/\/.*\/checkpoints\/state\/step_1\.mock$/),
    })
    await expect(service.save(modelId, 'step_1', { kind: 'state', seq: 2 })).rejects.toThrow('saved before')
    await service.save(modelId, 'step_1', { kind: 'sampler', seq: 3 })
    for (const [i, name] of ['../x', 'a/b', '', '.hidden', 'a b'].entries()) {
      await expect(service.save(modelId, name, { kind: 'state', seq: 4 + i })).rejects.toThrow(
        'cannot name a checkpoint',
      )
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
      backend.service.load(backend.modelId, { kind: 'state', uri }, { optimizer: true, seq: 1 }),
    ).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(message),
    })
  })

  it('refuses a damaged checkpoint, for loading and for sampling (PLG-14)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir })
    const { service, modelId } = backend
    const sampler = await service.save(modelId, 'a', { kind: 'sampler', seq: 1 })
    const path = join(runDir, 'checkpoints/sampler/a.mock')
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.subarray(0, bytes.length - 1))
    const request = { model: sampler, prompt, numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 }
    await expect(service.sample(request)).rejects.toThrow('damaged')
    writeFileSync(path, bytes)
    expect(await service.sample(request)).toHaveLength(1)
  })

  it('loads only first, samples only from sampler weights, knows one model (PLG-14)', async () => {
    await using backend = await open()
    const { service, modelId } = backend
    const state = await service.save(modelId, 'a', { kind: 'state', seq: 1 })
    await expect(service.load(modelId, state, { optimizer: true, seq: 2 })).rejects.toThrow(
      'by the first request of a model',
    )
    const model = state as unknown as SamplerRef // a caller without types
    await expect(
      service.sample({ model, prompt, numSamples: 1, maxTokens: 1, temperature: 1, seed: 1 }),
    ).rejects.toThrow('not saved for sampling')
    await expect(service.optimStep('other', adam, 3)).rejects.toThrow('no model is called "other"')
  })

  it('fails where its params ask for it (PLG-14)', async () => {
    await expect(open({ params: { fail_on_prepare: true } })).rejects.toMatchObject({ code: 'BACKEND_FAILED' })
    await using backend = await open({ params: { fail_at_step: 1 } })
    const { service, modelId } = backend
    await service.optimStep(modelId, adam, 1)
    await expect(service.optimStep(modelId, adam, 2)).rejects.toThrow('step 1 fails, as asked')
    await service.optimStep(modelId, adam, 3)
  })

  it('ends its requests when the run is cancelled or closed (PLG-14)', async () => {
    const controller = new AbortController()
    const backend = await open({ signal: controller.signal })
    const { service, modelId } = backend
    const held = service.optimStep(modelId, adam, 2)
    controller.abort(new Error('cancelled'))
    await expect(held).rejects.toThrow('cancelled')
    await expect(service.optimStep(modelId, adam, 1)).rejects.toThrow('cancelled')
    await backend[Symbol.asyncDispose]()
    const closed = await open()
    const waiting = closed.service.optimStep(closed.modelId, adam, 2)
    await closed[Symbol.asyncDispose]()
    await expect(waiting).rejects.toThrow('was closed before')
  })

  it('says what decides its bytes, and trains all weights without a rank (PLG-13)', async () => {
    const runDir = folder()
    await using backend = await open({ runDir, rank: undefined })
    expect(backend.engineId).toMatch(/^mock-[0-9a-f]{16}$/)
    expect(backend.tokenizer.vocabSize).toBe(264)
    await train(backend, 1, counter())
    expect(existsSync(join(runDir, 'checkpoints'))).toBe(false)
  })
})

describe('the latency of the mock service', () => {
  it('delays answers, not work: requests sent together arrive together (PLG-14)', async () => {
    const clock = manualClock()
    const signal = new AbortController().signal
    await using engine = createMockEngine({ vocabSize: 264 })
    await engine.run({ op: 'create', model: 'm', baseModel: 'mock' }, signal)
    using service = createMockService({ engine, modelId: 'm', runDir: folder(), signal, clock, latencyMs: 100 })
    const arrived: string[] = []
    const requests = [
      service.forwardBackward('m', data, ce, 1).then(() => arrived.push('pass')),
      service.optimStep('m', adam, 2).then(() => arrived.push('step')),
      service.snapshot('m', 3).then(() => arrived.push('snapshot')),
    ]
    await clock.untilSleeping(3)
    await clock.advance(99)
    expect(arrived).toEqual([])
    await clock.advance(1)
    await Promise.all(requests)
    expect(arrived).toEqual(['pass', 'step', 'snapshot'])
  })
})
