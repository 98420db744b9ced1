import { describe, expect, it } from 'vitest'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { tinyConfigs, tinyContext, tinyVocab, writeTinyModel } from '../../../tests/tiny-model.ts'
import { torchFixture } from '../../../tests/torch-fixture.ts'
import type {
  Adam,
  Datum,
  Engine,
  EngineOp,
  FwdBwd,
  LoraSpec,
  NamedLoss,
  Sample,
  SampleReq,
} from '../../contracts/index.ts'
import { sha256 } from '../../kernel/index.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../files/checkpoint.ts'
import { createReferenceEngine } from './reference-engine.ts'

const folder = temporaryFolders()
const signal = new AbortController().signal
const adam: Adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-12 }
const ce: NamedLoss = { name: 'cross_entropy' }
const all = { trainAttention: true, trainMlp: true, trainUnembedding: true }
const lora = (rank: number, seed = 1, parts = all): LoraSpec => ({ rank, seed, ...parts })

const folders = Object.fromEntries(
  Object.keys(tinyConfigs).map((family) => [family, writeTinyModel(folder(), family as keyof typeof tinyConfigs)]), // its own keys
)

/** Tokens as letters: a text that a person can read in a stop test. */
const decode = (tokens: readonly number[]) => tokens.map((token) => String.fromCharCode(97 + token)).join('')

function openEngine(): Engine {
  return createReferenceEngine({
    async resolve(name) {
      const found = folders[name.replace(/:.*/, '')]
      if (found === undefined) throw new Error(`no model ${name}`)
      return name.endsWith(':mute') ? { folder: found } : { folder: found, decode }
    },
  })
}

async function open(spec?: LoraSpec, baseModel = 'qwen3'): Promise<Engine> {
  const engine = openEngine()
  await run(engine, { op: 'create', model: 'm', baseModel, ...(spec === undefined ? {} : { lora: spec }) })
  return engine
}

const run = (engine: Engine, op: EngineOp) => engine.run(op, signal)

async function pass(
  engine: Engine,
  data: Datum[],
  loss = ce,
  op: 'forward' | 'forward_backward' = 'forward_backward',
): Promise<FwdBwd> {
  const result = await run(engine, { op, model: 'm', data, loss })
  return 'fwdBwd' in result ? result.fwdBwd : expect.fail('no pass')
}

async function step(engine: Engine, more: Partial<Adam> = {}): Promise<number> {
  const result = await run(engine, { op: 'optim_step', model: 'm', adam: { ...adam, ...more } })
  return 'metrics' in result ? (result.metrics['optim/grad_norm'] ?? Number.NaN) : expect.fail('no metrics')
}

async function bytesOf(engine: Engine, op: 'export' | 'export_state' = 'export', model = 'm'): Promise<Uint8Array> {
  const result = await run(engine, { op, model })
  return 'bytes' in result ? result.bytes : expect.fail('no bytes')
}

const weightsOf = async (engine: Engine) => decodeCheckpoint(await bytesOf(engine)).weights

async function sample(engine: Engine, more: Partial<SampleReq> = {}, model = 'm'): Promise<readonly Sample[]> {
  const request = { prompt: Int32Array.from([3, 1, 4]), numSamples: 1, maxTokens: 6, temperature: 1, seed: 7, ...more }
  const result = await run(engine, { op: 'sample', model, request })
  return 'samples' in result ? result.samples : expect.fail('no samples')
}

const one = async (engine: Engine, more: Partial<SampleReq> = {}, model = 'm') =>
  (await sample(engine, more, model))[0] ?? expect.fail('no sample')

const ints = (values: readonly number[]) => ({ data: Int32Array.from(values), shape: [values.length] })
const floats = (values: readonly number[], shape = [values.length]) => ({ data: Float32Array.from(values), shape })

function datum(tokens: readonly number[], weight = 1): Datum {
  return {
    tokens: Int32Array.from(tokens.slice(0, -1)),
    lossInputs: {
      target_tokens: ints(tokens.slice(1)),
      weights: floats(tokens.slice(1).map(() => weight)),
    },
  }
}

const corpus = [datum([1, 2, 3, 4, 5]), datum([6, 7, 8]), datum([9, 10, 11, 12]), datum([1, 3, 5, 7, 9, 11])]

async function train(engine: Engine, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await pass(engine, corpus)
    await step(engine)
  }
}

describe('training', () => {
  it.each([
    ['all weights', undefined],
    ['an adapter', lora(4)],
  ])('learns a small corpus by heart with %s (ENG-8)', async (_what, spec) => {
    await using engine = await open(spec)
    const before = (await pass(engine, corpus, ce, 'forward')).metrics['loss:sum'] ?? 0
    await train(engine, 60)
    expect((await pass(engine, corpus, ce, 'forward')).metrics['loss:sum'] ?? 0).toBeLessThan(before / 4)
  })

  it('takes no gradient from a forward pass (ENG-8, conformance 24)', async () => {
    await using engine = await open()
    const before = await bytesOf(engine)
    await pass(engine, corpus, ce, 'forward')
    expect(await step(engine)).toBe(0)
    expect(await bytesOf(engine)).toEqual(before)
  })

  it('answers one record per datum, in order, in the shape of its targets (ENG-8, conformance 27)', async () => {
    await using engine = await open(lora(2))
    const many: Datum = {
      tokens: Int32Array.from([1, 2]),
      lossInputs: {
        target_tokens: { ...ints([1, 2, 3, 4, 5, 6]), shape: [2, 3] },
        weights: floats([1, 0, 0, 0, 0, 1], [2, 3]),
      },
    }
    const { outputs } = await pass(engine, [many, ...corpus])
    expect(outputs.map(({ logprobs }) => logprobs?.shape)).toEqual([[2, 3], [4], [2], [3], [5]])
    for (const [i, each] of corpus.entries()) {
      expect((await pass(engine, [each], ce, 'forward')).outputs).toEqual([outputs[i + 1]])
    }
    const single = { ...many, lossInputs: { target_tokens: ints([2, 5]), weights: floats([1, 1]) } }
    const [row] = (await pass(engine, [single], ce, 'forward')).outputs
    expect([...(row?.logprobs?.data ?? [])]).toEqual([outputs[0]?.logprobs?.data[1], outputs[0]?.logprobs?.data[4]])
  })

  it('names metrics with their reduction (ENG-8, conformance 28)', async () => {
    await using engine = await open(lora(2))
    const { metrics } = await pass(engine, corpus)
    expect(Object.keys(metrics)).toContain('loss:sum')
    for (const key of Object.keys(metrics))
      expect(key).toMatch(/^[^:]+:(mean|sum|min|max|slack|hash_unordered|unique)$/)
  })

  it('sums: weights scale the gradient, and so do copies (ENG-8, conformance 29)', async () => {
    const normOf = async (data: Datum[]) => {
      await using engine = await open(lora(2))
      await pass(engine, data)
      return step(engine)
    }
    const plain = await normOf([datum([1, 2, 3, 4])])
    expect(await normOf([datum([1, 2, 3, 4], 10)])).toBeCloseTo(10 * plain, 8)
    expect(await normOf(Array.from({ length: 4 }, () => datum([1, 2, 3, 4])))).toBeCloseTo(4 * plain, 8)
  })

  it('adds up the gradients of all calls until the step (ENG-8, conformance 30)', async () => {
    await using whole = await open(lora(2))
    await using halves = await open(lora(2))
    await pass(whole, corpus)
    for (const part of [corpus.slice(0, 2), corpus.slice(2)]) await pass(halves, part)
    expect(await step(halves)).toBeCloseTo(await step(whole), 10)
    const expected = await weightsOf(whole)
    for (const [name, { data }] of await weightsOf(halves)) {
      for (const [i, value] of data.entries()) expect(value).toBeCloseTo(expected.get(name)?.data[i] ?? Number.NaN, 8)
    }
  })

  it('uses gradients up: a second step only lets the moments decay (ENG-8, conformance 34)', async () => {
    await using engine = await open(lora(2))
    await pass(engine, corpus)
    expect(await step(engine)).toBeGreaterThan(0)
    const first = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam
    expect(await step(engine)).toBe(0)
    const second = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam
    expect([first?.step, second?.step]).toEqual([1, 2])
    for (const [name, { data }] of second?.first ?? []) {
      for (const [i, value] of data.entries()) expect(value).toBe(0.9 * (first?.first.get(name)?.data[i] ?? Number.NaN))
    }
  })

  it('stays finite where the weight is zero and the target all but impossible (ENG-8, conformance 38)', async () => {
    await using engine = await open()
    const checkpoint = decodeCheckpoint(await bytesOf(engine))
    checkpoint.weights.get('lm_head.weight')?.data.forEach((value, i, all) => {
      all[i] = value * 1e5
    })
    await run(engine, { op: 'import', model: 'm', bytes: encodeCheckpoint(checkpoint), optimizer: false })
    const extreme: Datum = {
      tokens: Int32Array.from([1, 2]),
      lossInputs: { target_tokens: ints([5, 6]), weights: floats([0, 0]) },
    }
    const { metrics, outputs } = await pass(engine, [extreme])
    expect(outputs[0]?.logprobs?.data[0]).toBeLessThan(-1e4)
    expect(metrics['loss:sum']).toBe(0)
    expect(await step(engine)).toBe(0)
  })

  it('tells of divergence by the loss, skips the step, and keeps the weights (ENG-8)', async () => {
    await using engine = await open()
    const checkpoint = decodeCheckpoint(await bytesOf(engine))
    checkpoint.weights.get('lm_head.weight')?.data.fill(1e308)
    const bytes = encodeCheckpoint(checkpoint)
    await run(engine, { op: 'import', model: 'm', bytes, optimizer: false })
    for (const [loss, lossInputs] of [
      [ce, {}],
      [{ name: 'importance_sampling' }, { logprobs: floats([0, 0]), advantages: floats([1, 1]) }],
    ] as const) {
      const { weights, target_tokens = ints([]) } = datum([1, 2, 3]).lossInputs
      const inputs =
        loss === ce && weights !== undefined ? { target_tokens, weights } : { target_tokens, ...lossInputs }
      const { metrics } = await pass(engine, [{ tokens: Int32Array.from([1, 2]), lossInputs: inputs }], loss)
      expect(metrics['loss:sum']).toBeNaN()
      const result = await run(engine, { op: 'optim_step', model: 'm', adam })
      expect(result).toEqual({ metrics: { 'optim/skipped_nonfinite': 1 } })
    }
    expect(await bytesOf(engine)).toEqual(bytes)
    await expect(sample(engine)).rejects.toThrow('training has diverged')
  })

  it('gives these bytes: whoever changes them also changes the engine’s id (ENG-13)', async () => {
    const base = torchFixture('llama-llama3-tied').folder
    await using engine = createReferenceEngine({ resolve: async () => ({ folder: base }) })
    await run(engine, { op: 'create', model: 'm', baseModel: 'fixture', lora: lora(2) })
    await train(engine, 5)
    expect({ id: engine.id, state: sha256(await bytesOf(engine, 'export_state')) }).toEqual({
      id: {
        kind: 'reference',
        sourceHash: sha256('reference engine, numbers of version 1'),
        threads: 1,
        cpuFeatures: [expect.stringMatching(/^v8-\d+\.\d+$/)],
      },
      state: '3ec6d31fdbfbe5473a3ce9ced897d8efd62106926bf5d1e9ea3b33e95882f8a0',
    })
  })

  it('lets no text see another: a row has the same bits alone and in a batch (ENG-13)', async () => {
    await using engine = await open(lora(2))
    await train(engine, 3)
    const together = await pass(engine, corpus, ce, 'forward')
    for (const [i, each] of corpus.entries()) {
      expect((await pass(engine, [each], ce, 'forward')).outputs).toEqual([together.outputs[i]])
    }
  })

  it('gives equal bytes for equal seeds, also beside other adapters of the same base (ENG-13)', async () => {
    await using alone = await open(lora(2))
    await train(alone, 3)
    await using beside = await open(lora(2))
    await run(beside, { op: 'create', model: 'other', baseModel: 'qwen3', lora: lora(3, 9) })
    await run(beside, { op: 'create', model: 'whole', baseModel: 'qwen3' })
    for (let i = 0; i < 3; i++) {
      for (const model of ['other', 'whole', 'm']) {
        await run(beside, { op: 'forward_backward', model, data: corpus, loss: ce })
        await run(beside, { op: 'optim_step', model, adam })
      }
    }
    expect(await bytesOf(beside, 'export_state')).toEqual(await bytesOf(alone, 'export_state'))
  })
})

describe('an adapter', () => {
  it.each(Object.keys(folders))(
    'of %s follows from its seed and changes nothing at first (ENG-5, conformance 42)',
    async (base) => {
      const start = async (spec?: LoraSpec) => {
        await using engine = await open(spec, base)
        return { bytes: await bytesOf(engine), outputs: (await pass(engine, corpus, ce, 'forward')).outputs }
      }
      const [whole, first, again, other] = [
        await start(),
        await start(lora(2)),
        await start(lora(2)),
        await start(lora(2, 8)),
      ]
      expect(again.bytes).toEqual(first.bytes)
      expect(other.bytes).not.toEqual(first.bytes)
      for (const { outputs } of [first, other]) expect(outputs).toEqual(whole.outputs)
    },
  )

  it.each([
    ['trainAttention', /self_attn\.[qkvo]_proj\.lora_/, 16],
    ['trainMlp', /mlp\.(gate|up|down)_proj\.lora_/, 12],
    ['trainUnembedding', /model\.lm_head\.lora_/, 2],
  ])('trains with %s alone only what it names (ENG-5, conformance 43)', async (part, names, count) => {
    const none = { trainAttention: false, trainMlp: false, trainUnembedding: false }
    await using engine = await open(lora(2, 1, { ...none, [part]: true }))
    const before = await weightsOf(engine)
    await train(engine, 2)
    const after = await weightsOf(engine)
    expect(after.size).toBe(count)
    for (const [name, { data }] of after) {
      expect(name).toMatch(names)
      expect(data, name).not.toEqual(before.get(name)?.data)
    }
  })
})

describe('checkpoints', () => {
  it('go on as if nothing had happened, with the optimiser; without it Adam starts anew (ENG-10, conformance 44)', async () => {
    await using whole = await open(lora(2))
    await train(whole, 5)
    await using first = await open(lora(2))
    await train(first, 3)
    const saved = await bytesOf(first, 'export_state')
    await using second = await open(lora(2, 99))
    await run(second, { op: 'import', model: 'm', bytes: saved, optimizer: true })
    await train(second, 2)
    expect(await bytesOf(second, 'export')).not.toEqual(saved)
    expect(await weightsOf(second)).toEqual(await weightsOf(whole))
    await using third = await open(lora(2))
    await run(third, { op: 'import', model: 'm', bytes: saved, optimizer: false })
    await train(third, 2)
    expect(await weightsOf(third)).not.toEqual(await weightsOf(whole))
    expect(decodeCheckpoint(await bytesOf(third, 'export_state')).adam?.step).toBe(2)
  })

  it('keep the weights of their moment, also as a model of their own (ENG-10, conformance 48)', async () => {
    await using engine = await open(lora(2))
    await train(engine, 5)
    const snapshot = await bytesOf(engine)
    await run(engine, { op: 'import', model: 'frozen', bytes: snapshot, optimizer: false })
    const before = await sample(engine, { numSamples: 3 }, 'frozen')
    expect(before).toEqual(await sample(engine, { numSamples: 3 }))
    await train(engine, 5)
    expect(await sample(engine, { numSamples: 3 }, 'frozen')).toEqual(before)
    expect(await sample(engine, { numSamples: 3 })).not.toEqual(before)
  })

  it('of a whole model work alike, and leave the base as it was (ENG-10)', async () => {
    await using engine = await open()
    await run(engine, { op: 'create', model: 'base', baseModel: 'qwen3' })
    const untouched = await bytesOf(engine, 'export', 'base')
    await train(engine, 2)
    const bytes = await bytesOf(engine, 'export_state')
    expect(await bytesOf(engine, 'export', 'base')).toEqual(untouched)
    await using other = openEngine()
    await run(other, { op: 'import', model: 'm', bytes, optimizer: true })
    await train(engine, 1)
    await train(other, 1)
    expect(await bytesOf(other, 'export_state')).toEqual(await bytesOf(engine, 'export_state'))
  })

  it.each<[string, LoraSpec | undefined, string, RegExp]>([
    ['another rank', lora(3), 'qwen3', /adapter is of rank 2 .*, the model’s is of rank 3/],
    [
      'other parts',
      lora(2, 1, { ...all, trainMlp: false }),
      'qwen3',
      /the model’s is of rank 2 \(attention, unembedding\)/,
    ],
    ['no adapter', undefined, 'qwen3', /the model’s is none/],
    ['another base', lora(2), 'llama', /base model is qwen3, the model’s is llama/],
  ])('are refused by a model with %s, which stays as it was (ENG-10)', async (_what, spec, base, message) => {
    await using source = await open(lora(2))
    const bytes = await bytesOf(source, 'export_state')
    await using engine = await open(spec, base)
    const before = await bytesOf(engine)
    await expect(run(engine, { op: 'import', model: 'm', bytes, optimizer: true })).rejects.toMatchObject({
      code: 'BACKEND_REFUSED',
      message: expect.stringMatching(message),
    })
    expect(await bytesOf(engine)).toEqual(before)
  })

  it('without an optimiser are refused where one is asked for (ENG-10)', async () => {
    await using engine = await open(lora(2))
    const op = { op: 'import', model: 'm', bytes: await bytesOf(engine), optimizer: true } as const
    await expect(run(engine, op)).rejects.toThrow('holds no optimiser state')
  })
})

describe('refusals', () => {
  const good = datum([1, 2, 3])
  const policy = { target_tokens: ints([2, 3]), logprobs: floats([0, 0]), advantages: floats([1, 1]) }
  const bad: [string, Datum[], NamedLoss, RegExp][] = [
    ['an unknown loss', [good], { name: 'hinge' }, /no loss is called "hinge"/],
    ['an unknown setting', [good], { name: 'cross_entropy', config: { beta: 1 } }, /no setting "beta"/],
    ['no data', [], ce, /holds no data/],
    [
      'a missing input',
      [{ ...good, lossInputs: { target_tokens: ints([1, 2]) } }],
      ce,
      /datum 0 lacks the input weights/,
    ],
    ['an input too many', [{ ...good, lossInputs: policy }], ce, /takes no input "logprobs"/],
    [
      'another length',
      [{ ...good, lossInputs: { ...good.lossInputs, weights: floats([1]) } }],
      ce,
      /weights has shape \[1\]/,
    ],
    [
      'bounds of another length',
      [{ ...good, lossInputs: { ...policy, clip_low_threshold: floats([1]) } }],
      { name: 'ppo' },
      /clip_low_threshold has shape \[1\]/,
    ],
    [
      'a value that is no number',
      [{ ...good, lossInputs: { ...good.lossInputs, weights: floats([1, Number.NaN]) } }],
      ce,
      /weights\[1\] is NaN/,
    ],
    ['a token out of range', [good, datum([1, tinyVocab, 3])], ce, /datum 1: tokens\[1\] is 17/],
    [
      'a target out of range',
      [{ ...good, lossInputs: { ...good.lossInputs, target_tokens: ints([-1, 2]) } }],
      ce,
      /target_tokens\[0\] is -1/,
    ],
    ['a text beyond the context', [datum(Array.from({ length: tinyContext + 2 }, () => 1))], ce, /has 25 tokens/],
    [
      'a ratio beyond all numbers',
      [
        { ...good, lossInputs: policy },
        { ...good, lossInputs: { ...policy, logprobs: floats([-1e30, 0]) } },
      ],
      { name: 'importance_sampling' },
      /datum 1: .* derivative -Infinity/,
    ],
  ]

  it.each(bad)(
    'name %s; the model is as before and can be used (ENG-11, conformance 37)',
    async (_what, data, loss, message) => {
      await using engine = await open(lora(2))
      await pass(engine, corpus)
      const before = await bytesOf(engine)
      await expect(pass(engine, data, loss)).rejects.toMatchObject({
        code: 'BACKEND_REFUSED',
        message: expect.stringMatching(message),
      })
      expect(await bytesOf(engine)).toEqual(before)
      await using other = await open(lora(2))
      await pass(other, corpus)
      expect(await step(engine)).toBe(await step(other))
    },
  )

  it('come for models that are unknown or taken, and adapters that train nothing (ENG-11)', async () => {
    await using engine = await open(lora(2))
    await expect(step(openEngine())).rejects.toThrow('no model is called "m"')
    await expect(run(engine, { op: 'create', model: 'm', baseModel: 'qwen3' })).rejects.toThrow('exists already')
    const nothing = lora(2, 1, { trainAttention: false, trainMlp: false, trainUnembedding: false })
    await expect(run(engine, { op: 'create', model: 'n', baseModel: 'qwen3', lora: nothing })).rejects.toThrow(
      'nothing',
    )
    await expect(run(engine, { op: 'create', model: 'n', baseModel: 'gone' })).rejects.toThrow('no model gone')
    await expect(step(engine, { beta1: 1 })).rejects.toThrow('out of range')
    await run(engine, { op: 'unload', model: 'm' })
    await expect(step(engine)).rejects.toThrow('no model is called "m"')
  })

  it('come for models too large, before their weights are read (ENG-11)', async () => {
    await using engine = createReferenceEngine({
      resolve: async () => ({ folder: folders.llama ?? '' }),
      maxParameters: 99,
    })
    await expect(run(engine, { op: 'create', model: 'm', baseModel: 'llama' })).rejects.toMatchObject({
      code: 'MODEL_INVALID',
      message: expect.stringMatching(/has \d{4} parameters, the engine takes 99/),
    })
  })

  it('leave no half of a gradient when the signal ends a pass (ENG-11)', async () => {
    await using engine = await open(lora(2))
    const controller = new AbortController()
    const data = Array.from({ length: 2000 }, () => datum(Array.from({ length: 20 }, (_, i) => i % tinyVocab)))
    const working = engine.run({ op: 'forward_backward', model: 'm', data, loss: ce }, controller.signal)
    setImmediate(() => controller.abort(new Error('stop')))
    await expect(working).rejects.toThrow('stop')
    expect(await step(engine)).toBe(0)
  })
})

describe('sampling', () => {
  it('gives the log-probabilities that training sees, to the last bit (ENG-9, conformance 52)', async () => {
    await using engine = await open(lora(2))
    await train(engine, 5)
    const prompt = [3, 1, 4]
    for (const { tokens, logprobs } of await sample(engine, { numSamples: 3, maxTokens: 10 })) {
      const text = [...prompt, ...tokens]
      const [output] = (await pass(engine, [datum(text)], ce, 'forward')).outputs
      expect([...(output?.logprobs?.data ?? [])].slice(prompt.length - 1)).toEqual([...logprobs])
    }
  })

  it('scores the prompt: the first token by nothing, the others as training does; top k sorted and capped (ENG-9, conformance 53)', async () => {
    await using engine = await open(lora(2))
    const prompt = Int32Array.from([3, 1, 4, 1, 5])
    const { promptLogprobs, topKPromptLogprobs } = await one(engine, {
      prompt,
      promptLogprobs: true,
      topKPromptLogprobs: 20,
    })
    const [output] = (await pass(engine, [datum([...prompt])], ce, 'forward')).outputs
    expect([...(promptLogprobs ?? [])]).toEqual([Number.NaN, ...(output?.logprobs?.data ?? [])])
    const row = (at: number) => ({
      tokens: [...(topKPromptLogprobs?.tokens.subarray(at * 20, (at + 1) * 20) ?? [])],
      logprobs: [...(topKPromptLogprobs?.logprobs.subarray(at * 20, (at + 1) * 20) ?? [])],
    })
    expect(new Set(row(0).tokens)).toEqual(new Set([-1]))
    for (let at = 1; at < prompt.length; at++) {
      const { tokens, logprobs } = row(at)
      expect(tokens.slice(tinyVocab)).toEqual([-1, -1, -1])
      expect([...tokens.slice(0, tinyVocab)].sort((a, b) => a - b)).toEqual(
        Array.from({ length: tinyVocab }, (_, v) => v),
      )
      expect(logprobs.slice(0, tinyVocab)).toEqual(logprobs.slice(0, tinyVocab).sort((a, b) => b - a))
      expect(logprobs[tokens.indexOf(prompt[at] ?? -1)]).toBe(promptLogprobs?.[at])
    }
    expect(await one(engine)).not.toHaveProperty('promptLogprobs')
  })

  it('repeats with the seed; samples differ; one does not depend on how many there are (ENG-9, conformance 54)', async () => {
    await using engine = await open(lora(2))
    const all = await sample(engine, { numSamples: 5, maxTokens: 12 })
    expect(await sample(engine, { numSamples: 5, maxTokens: 12 })).toEqual(all)
    expect(await sample(engine, { numSamples: 2, maxTokens: 12 })).toEqual(all.slice(0, 2))
    expect(new Set(all.map(({ tokens }) => tokens.join())).size).toBe(5)
    expect((await one(engine, { maxTokens: 5 })).tokens).toEqual(all[0]?.tokens.subarray(0, 5))
    expect(await sample(engine, { numSamples: 5, maxTokens: 12, seed: 8 })).not.toEqual(all)
    const greedy = await sample(engine, { numSamples: 2, temperature: 0 })
    expect(greedy[0]?.tokens).toEqual(greedy[1]?.tokens)
    for (const limit of [{ topK: 1 }, { topP: 1e-9 }])
      expect((await one(engine, limit)).tokens).toEqual(greedy[0]?.tokens)
  })

  it('draws each token as often as temperature, top k and top p make it likely (ENG-9)', async () => {
    await using engine = await open(lora(2))
    const n = 3000
    for (const limit of [{}, { temperature: 0.5 }, { topK: 4 }, { topP: 0.6 }]) {
      const counts = new Map<number, { count: number; p: number }>()
      for (const { tokens, logprobs } of await sample(engine, { numSamples: n, maxTokens: 1, ...limit })) {
        const [token = -1, p = 0] = [tokens[0], Math.exp(logprobs[0] ?? 0)]
        counts.set(token, { p, count: (counts.get(token)?.count ?? 0) + 1 })
      }
      for (const { count, p } of counts.values()) expect(Math.abs(count - n * p)).toBeLessThan(5 * Math.sqrt(n * p) + 5)
      expect([...counts.values()].reduce((sum, { p }) => sum + p, 0)).toBeGreaterThan(0.98)
    }
  })

  it('ends at a token, at a text, or at the bound, and keeps what it ended with (ENG-9, conformance 51)', async () => {
    await using engine = await open(lora(2))
    const plain = await one(engine, { maxTokens: 8 })
    expect(plain).toMatchObject({ stopReason: 'length', tokens: expect.objectContaining({ length: 8 }) })
    const tokens = [...plain.tokens]
    const at = tokens.findIndex((token, i) => i > 1 && tokens.indexOf(token) === i)
    const byToken = await one(engine, { maxTokens: 8, stop: [tokens[at] ?? -1] })
    expect(byToken).toMatchObject({ stopReason: 'stop', tokens: plain.tokens.slice(0, at + 1) })
    const text = decode(tokens.slice(at - 1, at + 1))
    const byText = await one(engine, { maxTokens: 8, stop: ['never', text] })
    expect(byText).toMatchObject({ stopReason: 'stop', tokens: plain.tokens.slice(0, at + 1) })
    expect(byText.logprobs).toEqual(plain.logprobs.slice(0, at + 1))
    await run(engine, { op: 'create', model: 'mute', baseModel: 'qwen3:mute' })
    await expect(sample(engine, { stop: ['x'] }, 'mute')).rejects.toThrow('without a tokenizer')
  })

  it('ends where the context is full, and takes a prompt that fills it (ENG-9)', async () => {
    await using engine = await open(lora(2))
    const prompt = new Int32Array(tinyContext - 2).fill(1)
    expect(await one(engine, { prompt, maxTokens: 50 })).toMatchObject({
      stopReason: 'length',
      tokens: expect.objectContaining({ length: 3 }),
    })
    const full = new Int32Array(tinyContext).fill(1)
    const scored = await one(engine, { prompt: full, maxTokens: 1, promptLogprobs: true })
    expect(scored.promptLogprobs).toHaveLength(tinyContext)
    expect(scored.tokens).toHaveLength(1)
  })

  it.each<[string, Partial<SampleReq>]>([
    ['an empty prompt', { prompt: new Int32Array() }],
    ['an unknown token', { prompt: Int32Array.from([tinyVocab]) }],
    ['a prompt beyond the context', { prompt: new Int32Array(tinyContext + 1) }],
    ['no samples', { numSamples: 0 }],
    ['no tokens', { maxTokens: 0 }],
    ['a negative temperature', { temperature: -1 }],
    ['a probability above one', { topP: 1.5 }],
    ['an empty stop', { stop: [''] }],
    ['a seed that is no number', { seed: 0.5 }],
  ])('refuses %s (ENG-11)', async (_what, more) => {
    await using engine = await open(lora(2))
    await expect(sample(engine, more)).rejects.toMatchObject({ code: 'BACKEND_REFUSED' })
    expect(await sample(engine)).toHaveLength(1)
  })
})
