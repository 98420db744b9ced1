import { describe, expect, it } from 'vitest'
import type { Datum, Engine, EngineOp, EngineResult, FwdBwd, LoraSpec } from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'
import { createMockEngine } from './mock-engine.ts'

const signal = new AbortController().signal
const adam = { learningRate: 0.05, beta1: 0.9, beta2: 0.95, eps: 1e-8 }
const ce = { name: 'cross_entropy' }

const lora = (rank: number, seed = 1): LoraSpec => ({
  rank,
  seed,
  trainAttention: true,
  trainMlp: true,
  trainUnembedding: true,
})

/** A text as next-token data: every byte is trained on. */
function datum(text: string, weight = 1): Datum {
  const bytes = Int32Array.from(Buffer.from(text))
  const length = bytes.length - 1
  return {
    tokens: bytes.slice(0, -1),
    lossInputs: {
      target_tokens: { data: bytes.slice(1), shape: [length] },
      weights: { data: new Float64Array(length).fill(weight), shape: [length] },
    },
  }
}

async function open(spec?: LoraSpec, baseModel = 'mock'): Promise<Engine> {
  const engine = createMockEngine({ vocabSize: 264 })
  await engine.run({ op: 'create', model: 'm', baseModel, ...(spec === undefined ? {} : { lora: spec }) }, signal)
  return engine
}

const run = (engine: Engine, op: EngineOp): Promise<EngineResult> => engine.run(op, signal)

async function pass(
  engine: Engine,
  data: Datum[],
  op: 'forward' | 'forward_backward' = 'forward_backward',
): Promise<FwdBwd> {
  const result = await run(engine, { op, model: 'm', data, loss: ce })
  return 'fwdBwd' in result ? result.fwdBwd : expect.fail('no pass')
}

async function train(engine: Engine, steps: number, data: Datum[]): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await pass(engine, data)
    await run(engine, { op: 'optim_step', model: 'm', adam })
  }
}

async function state(engine: Engine, op: 'export' | 'export_state' = 'export_state'): Promise<Uint8Array> {
  const result = await run(engine, { op, model: 'm' })
  return 'bytes' in result ? result.bytes : expect.fail('no bytes')
}

const corpus = ['the cat sat on the mat', 'the dog ate the bone', 'a bird sang'].map((text) => datum(text))

/** The best that a bigram model can do: the entropy of each next byte given the one before, over the corpus. */
function conditionalEntropy(texts: readonly Datum[]): number {
  const counts = new Map<number, Map<number, number>>()
  for (const { tokens, lossInputs } of texts) {
    for (const [i, token] of tokens.entries()) {
      const row = counts.get(token) ?? new Map<number, number>()
      counts.set(token, row)
      const next = lossInputs.target_tokens?.data[i] ?? 0
      row.set(next, (row.get(next) ?? 0) + 1)
    }
  }
  let nats = 0
  for (const row of counts.values()) {
    const total = [...row.values()].reduce((sum, count) => sum + count, 0)
    for (const count of row.values()) nats -= count * Math.log(count / total)
  }
  return nats
}

describe('the mock engine', () => {
  it.each([
    ['all weights', undefined, 400],
    ['an adapter', lora(32), 400],
  ])('learns with %s all that there is to learn (PLG-12)', async (_name, spec, steps) => {
    await using engine = await open(spec)
    const floor = conditionalEntropy(corpus)
    const before = (await pass(engine, corpus, 'forward')).metrics['loss:sum'] ?? 0
    await train(engine, steps, corpus)
    const after = (await pass(engine, corpus, 'forward')).metrics['loss:sum'] ?? 0
    expect(before).toBeGreaterThan(3 * floor)
    expect(after).toBeGreaterThanOrEqual(floor - 1e-9)
    expect(after - floor).toBeLessThan(0.02 * (before - floor))
  })

  it('leaves the base as it is until an adapter is trained; the base follows from the model’s name alone (PLG-13)', async () => {
    const logprobs = async (spec: LoraSpec | undefined, name: string) => {
      await using engine = await open(spec, name)
      return (await pass(engine, corpus, 'forward')).outputs
    }
    const base = await logprobs(undefined, 'a')
    expect(await logprobs(lora(4, 9), 'a')).toEqual(base)
    expect(await logprobs(undefined, 'b')).not.toEqual(base)
  })

  it('gives a row the same result whatever stands beside it (PLG-13)', async () => {
    await using engine = await open(lora(4))
    await train(engine, 3, corpus)
    const together = await pass(engine, corpus, 'forward')
    for (const [i, one] of corpus.entries()) {
      expect((await pass(engine, [one], 'forward')).outputs).toEqual([together.outputs[i]])
    }
  })

  it('gives the same bytes whether data comes in one request or in many (PLG-13)', async () => {
    await using one = await open(lora(4))
    await using many = await open(lora(4))
    for (let step = 0; step < 3; step++) {
      await pass(one, corpus)
      for (const each of corpus) await pass(many, [each])
      for (const engine of [one, many]) await run(engine, { op: 'optim_step', model: 'm', adam })
    }
    expect(sha256(await state(many))).toBe(sha256(await state(one)))
  })

  it('gives equal bytes for equal seeds and others for others (PLG-13)', async () => {
    const trained = async (seed: number) => {
      await using engine = await open(lora(4, seed))
      await train(engine, 5, corpus)
      return sha256(await state(engine))
    }
    expect(await trained(1)).toBe(await trained(1))
    expect(await trained(2)).not.toBe(await trained(1))
  })

  it('gives these bytes: whoever changes them also changes the engine’s id (PLG-13)', async () => {
    await using engine = await open(lora(2, 3))
    await train(engine, 10, corpus)
    expect({ id: engine.id, state: sha256(await state(engine)) }).toEqual({
      id: { kind: 'mock', sourceHash: sha256('mock engine, numbers of version 2'), threads: 1, cpuFeatures: [] },
      state: 'b311f83a64e300cbf12cdffbd8cbe74e90c01f99ca92b50c8ed41a52be98da6d',
    })
  })

  it('goes on from a saved state as if nothing had happened (PLG-13)', async () => {
    await using whole = await open(lora(4))
    await train(whole, 10, corpus)
    await using first = await open(lora(4))
    await train(first, 4, corpus)
    const saved = await state(first)
    await using second = await open(lora(4, 99))
    await run(second, { op: 'import', model: 'm', bytes: saved, optimizer: true })
    await train(second, 6, corpus)
    expect(sha256(await state(second))).toBe(sha256(await state(whole)))
  })

  it('loads weights without the optimiser, and makes a model of them where there is none (PLG-13)', async () => {
    await using source = await open(lora(4))
    await train(source, 4, corpus)
    const weights = await state(source, 'export')
    expect(weights.length).toBeLessThan((await state(source)).length)
    await using target = createMockEngine({ vocabSize: 264 })
    await run(target, { op: 'import', model: 'm', bytes: weights, optimizer: false })
    expect((await pass(target, corpus, 'forward')).outputs).toEqual((await pass(source, corpus, 'forward')).outputs)
    expect(sha256(await state(target, 'export'))).toBe(sha256(weights))
    await expect(run(target, { op: 'import', model: 'm', bytes: weights, optimizer: true })).rejects.toThrow(
      'holds no optimiser state',
    )
  })

  it('refuses a checkpoint that does not fit, and keeps the model (PLG-13)', async () => {
    await using other = await open(lora(8))
    const bytes = await state(other)
    await using engine = await open(lora(4))
    const before = sha256(await state(engine))
    await expect(run(engine, { op: 'import', model: 'm', bytes, optimizer: true })).rejects.toThrow(
      'adapter rank is 8, the model’s is 4',
    )
    await using small = createMockEngine({ vocabSize: 10 })
    await expect(run(small, { op: 'import', model: 'm', bytes, optimizer: true })).rejects.toThrow(
      'vocabulary size is 264',
    )
    expect(sha256(await state(engine))).toBe(before)
  })

  it('forgets gradients when it steps and when it loads (PLG-12)', async () => {
    await using engine = await open()
    const fresh = await state(engine)
    await pass(engine, corpus)
    await run(engine, { op: 'import', model: 'm', bytes: fresh, optimizer: true })
    expect(await run(engine, { op: 'optim_step', model: 'm', adam })).toEqual({ metrics: { 'optim/grad_norm': 0 } })
    await pass(engine, corpus)
    await run(engine, { op: 'optim_step', model: 'm', adam })
    expect(await run(engine, { op: 'optim_step', model: 'm', adam })).toEqual({ metrics: { 'optim/grad_norm': 0 } })
  })

  const good = datum('abc')
  const bad: [string, Datum[], RegExp][] = [
    ['no data', [], /holds no data/],
    ['a datum without tokens', [{ ...good, tokens: new Int32Array() }], /datum 0 has no tokens/],
    [
      'a token beyond the vocabulary',
      [good, { ...good, tokens: Int32Array.from([1, 264]) }],
      /datum 1: tokens\[1\] is 264/,
    ],
    ['a target that is no whole number', [withInput('target_tokens', [1.5, 2])], /target_tokens\[0\] is 1.5/],
    [
      'an input that is missing',
      [{ ...good, lossInputs: { target_tokens: { data: Int32Array.from([1, 2]), shape: [2] } } }],
      /lacks the input weights/,
    ],
    ['an input that the loss does not take', [withInput('mask', [1, 1])], /takes no input "mask"/],
    ['weights of another shape', [withInput('weights', [1])], /weights has shape \[1\]/],
    [
      'a shape that lies',
      [{ ...good, lossInputs: { ...good.lossInputs, weights: { data: new Float64Array(2), shape: [3] } } }],
      /2 values for the shape \[3\]/,
    ],
    ['targets of another length', [withInput('target_tokens', [1, 2, 3])], /shape \[3\] for 2 tokens/],
  ]
  function withInput(name: string, values: number[]): Datum {
    return {
      ...good,
      lossInputs: { ...good.lossInputs, [name]: { data: Float64Array.from(values), shape: [values.length] } },
    }
  }

  it.each(bad)('refuses %s and changes nothing (PLG-12)', async (_name, data, message) => {
    await using engine = await open()
    await expect(pass(engine, data)).rejects.toThrow(message)
    expect(await run(engine, { op: 'optim_step', model: 'm', adam })).toEqual({ metrics: { 'optim/grad_norm': 0 } })
  })

  it('refuses a model it does not have, one it has already, and an adapter of nothing (PLG-12)', async () => {
    await using engine = await open()
    await expect(run(engine, { op: 'optim_step', model: 'x', adam })).rejects.toThrow('no model is called "x"')
    await expect(run(engine, { op: 'create', model: 'm', baseModel: 'a' })).rejects.toThrow('exists already')
    const nothing = { ...lora(2), trainAttention: false, trainMlp: false, trainUnembedding: false }
    await expect(run(engine, { op: 'create', model: 'n', baseModel: 'a', lora: nothing })).rejects.toThrow(
      'train nothing',
    )
    for (const rank of [0, -1, 1.5, Number.NaN, 1e9]) {
      const op = { op: 'create', model: 'n', baseModel: 'a', lora: lora(rank) } as const
      await expect(run(engine, op)).rejects.toThrow(`rank ${rank}`)
    }
    await run(engine, { op: 'unload', model: 'm' })
    await expect(run(engine, { op: 'export', model: 'm' })).rejects.toThrow('no model is called "m"')
  })

  it.each([
    { learningRate: Number.NaN },
    { learningRate: -1 },
    { beta1: 1 },
    { beta2: -0.1 },
    { eps: 0 },
    { weightDecay: Number.POSITIVE_INFINITY },
    { gradClipNorm: -1 },
  ])('refuses to step with %j, and keeps weights and gradients (PLG-12)', async (wrong) => {
    await using engine = await open()
    await using other = await open()
    for (const each of [engine, other]) await pass(each, corpus)
    await expect(run(engine, { op: 'optim_step', model: 'm', adam: { ...adam, ...wrong } })).rejects.toThrow(
      'out of range',
    )
    for (const each of [engine, other]) await run(each, { op: 'optim_step', model: 'm', adam })
    expect(sha256(await state(engine))).toBe(sha256(await state(other)))
  })

  it('works in the order it was asked, also after a failure (PLG-13)', async () => {
    await using pipelined = await open()
    const results = await Promise.allSettled([
      pass(pipelined, corpus),
      pass(pipelined, []),
      run(pipelined, { op: 'optim_step', model: 'm', adam }),
      pass(pipelined, corpus),
      run(pipelined, { op: 'optim_step', model: 'm', adam }),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ])
    await using stepwise = await open()
    await train(stepwise, 2, corpus)
    expect(sha256(await state(pipelined))).toBe(sha256(await state(stepwise)))
  })

  it('stops at the signal without half a gradient (PLG-12)', async () => {
    await using engine = await open()
    const controller = new AbortController()
    const long = datum('x'.repeat(60_000))
    const working = engine.run(
      { op: 'forward_backward', model: 'm', data: [long, long, long], loss: ce },
      controller.signal,
    )
    setImmediate(() => controller.abort(new Error('stop')))
    await expect(working).rejects.toThrow('stop')
    expect(await run(engine, { op: 'optim_step', model: 'm', adam })).toEqual({ metrics: { 'optim/grad_norm': 0 } })
    await expect(engine.run({ op: 'export', model: 'm' }, controller.signal)).rejects.toThrow('stop')
  })
})
