// What the contract suites of engines share: tiny models on disk, small data, and short words for operations.
import { expect } from 'vitest'
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
} from '../../src/contracts/index.ts'
import { decodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import type { ReferenceEngineOptions } from '../../src/engine/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { tinyConfigs, writeTinyModel } from '../tiny-model.ts'

/** Opens an engine of one implementation. */
export type CreateEngine = (options: ReferenceEngineOptions) => Engine | Promise<Engine>

/** Engines of one implementation with the tiny models at hand; one called `NAME:mute` has no tokenizer. */
export function openers(create: CreateEngine) {
  const folder = temporaryFolders()
  const folders = Object.fromEntries(
    Object.keys(tinyConfigs).map((family) => [family, writeTinyModel(folder(), family as keyof typeof tinyConfigs)]), // its own keys
  )
  const openEngine = async (more: Partial<ReferenceEngineOptions> = {}): Promise<Engine> =>
    create({
      async resolve(name) {
        const found = folders[name.replace(/:.*/, '')]
        if (found === undefined) throw new Error(`no model ${name}`)
        return name.endsWith(':mute') ? { folder: found } : { folder: found, openDecode: async () => decode }
      },
      ...more,
    })
  return {
    openEngine,
    async open(spec?: LoraSpec, baseModel = 'qwen3'): Promise<Engine> {
      const engine = await openEngine()
      await run(engine, { op: 'create', model: 'm', baseModel, ...(spec === undefined ? {} : { lora: spec }) })
      return engine
    },
  }
}

/** What the numbers of an engine can hold. */
export type Numbers = {
  /** Bound on the difference of two ways to one sum, relative, absolute below 1. */
  tolerance: number
  /** A weight with which logits are beyond all numbers. */
  huge: number
}
export const float64: Numbers = { tolerance: 5e-11, huge: 1e308 }
export const float32: Numbers = { tolerance: 1e-5, huge: Math.fround(3e38) }

/** Expects two numbers that come from one sum in two ways. */
export function expectNear(actual: number, expected: number, { tolerance }: Numbers): void {
  expect(Math.abs(actual - expected), `${actual} and ${expected}`).toBeLessThanOrEqual(
    tolerance * Math.max(1, Math.abs(expected)),
  )
}

const signal = new AbortController().signal
export const adam: Adam = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-12 }
export const ce: NamedLoss = { name: 'cross_entropy' }
export const all = { trainAttention: true, trainMlp: true, trainUnembedding: true }
export const lora = (rank: number, seed = 1, parts = all): LoraSpec => ({ rank, seed, ...parts })

/** Tokens as letters: a text that a person can read in a stop test. */
export const decode = (tokens: readonly number[]) => tokens.map((token) => String.fromCharCode(97 + token)).join('')

export const run = (engine: Engine, op: EngineOp) => engine.run(op, signal)

export async function pass(
  engine: Engine,
  data: Datum[],
  loss = ce,
  op: 'forward' | 'forward_backward' = 'forward_backward',
): Promise<FwdBwd> {
  const result = await run(engine, { op, model: 'm', data, loss })
  return 'fwdBwd' in result ? result.fwdBwd : expect.fail('no pass')
}

/** Log-probabilities of every token of the vocabulary after each token of each text. */
export async function rowsOf(engine: Engine, texts: readonly Pick<Datum, 'tokens'>[], vocab: number, model = 'm') {
  const data = texts.map(({ tokens }): Datum => {
    const shape = [tokens.length, vocab]
    const targets = Int32Array.from({ length: tokens.length * vocab }, (_, i) => i % vocab)
    return {
      tokens,
      lossInputs: {
        target_tokens: { data: targets, shape },
        weights: { data: new Float32Array(targets.length), shape },
      },
    }
  })
  const result = await run(engine, { op: 'forward', model, data, loss: ce })
  const outputs = 'fwdBwd' in result ? result.fwdBwd.outputs : expect.fail('no pass')
  return outputs.map(({ logprobs }) => logprobs?.data ?? new Float64Array())
}

export async function step(engine: Engine, more: Partial<Adam> = {}): Promise<number> {
  const result = await run(engine, { op: 'optim_step', model: 'm', adam: { ...adam, ...more } })
  return 'metrics' in result ? (result.metrics['optim/grad_norm'] ?? Number.NaN) : expect.fail('no metrics')
}

export async function bytesOf(
  engine: Engine,
  op: 'export' | 'export_state' = 'export',
  model = 'm',
): Promise<Uint8Array> {
  const result = await run(engine, { op, model })
  return 'bytes' in result ? result.bytes : expect.fail('no bytes')
}

export const weightsOf = async (engine: Engine) => decodeCheckpoint(await bytesOf(engine)).weights

export async function sample(engine: Engine, more: Partial<SampleReq> = {}, model = 'm'): Promise<readonly Sample[]> {
  const request = { prompt: Int32Array.from([3, 1, 4]), numSamples: 1, maxTokens: 6, temperature: 1, seed: 7, ...more }
  const result = await run(engine, { op: 'sample', model, request })
  return 'samples' in result ? result.samples : expect.fail('no samples')
}

export const one = async (engine: Engine, more: Partial<SampleReq> = {}, model = 'm') =>
  (await sample(engine, more, model))[0] ?? expect.fail('no sample')

export const ints = (values: readonly number[]) => ({ data: Int32Array.from(values), shape: [values.length] })
export const floats = (values: readonly number[], shape = [values.length]) => ({
  data: Float32Array.from(values),
  shape,
})

export function datum(tokens: readonly number[], weight = 1): Datum {
  return {
    tokens: Int32Array.from(tokens.slice(0, -1)),
    lossInputs: {
      target_tokens: ints(tokens.slice(1)),
      weights: floats(tokens.slice(1).map(() => weight)),
    },
  }
}

export const corpus = [datum([1, 2, 3, 4, 5]), datum([6, 7, 8]), datum([9, 10, 11, 12]), datum([1, 3, 5, 7, 9, 11])]

export async function train(engine: Engine, steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) {
    await pass(engine, corpus)
    await step(engine)
  }
}
