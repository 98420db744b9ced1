// Numbers of an engine in float32 against those of the reference engine, tensor by tensor, through what every engine offers: with
// beta1 = 0 the first moment after a step is the gradient.
import { describe, expect, it } from 'vitest'
import type { Datum, Engine, LoraSpec } from '../../src/contracts/index.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { createReferenceEngine } from '../../src/engine/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type tinyConfigs, writeTinyModel } from '../tiny-model.ts'
import { relativeDistance } from '../torch-fixture.ts'
import { bytesOf, type CreateEngine, floats, ints, lora, pass, run, step } from './engine-under-test.ts'

type Family = keyof typeof tinyConfigs
type Case = {
  family: Family
  config: Record<string, unknown>
  lengths: readonly number[]
  spec?: LoraSpec
  vocab?: number
}

// Sizes that fill no vector and no tile, and some that do.
const odd = { hidden_size: 36, intermediate_size: 53, num_attention_heads: 6, num_key_value_heads: 3, head_dim: 10 }
const even = { hidden_size: 64, intermediate_size: 96, num_attention_heads: 4, num_key_value_heads: 1, head_dim: 16 }

// As models are initialised: with more, each layer would blow rounding up, whoever computes.
const spread = (inputs: number) => 1 / Math.sqrt(inputs)

// A shift of all keys hardly changes a probability: its gradient is what is left of numbers that cancel.
const keyBiasBound = 1e-4

export function describeParity(create: CreateEngine, { longest = 70 } = {}): void {
  const folder = temporaryFolders()
  const context = { max_position_embeddings: 4096 }

  describe('against the reference engine', () => {
    const families: readonly Family[] = ['llama', 'qwen2', 'qwen3']
    const cases: [string, Case][] = families.flatMap((family): [string, Case][] => {
      const { head_dim: _, ...oddSizes } = odd
      const config = family === 'qwen3' ? odd : oddSizes
      const lengths = [1, 7, 2, 13]
      return [
        [`${family}, all weights`, { family, config, lengths }],
        [`${family}, rank 1`, { family, config, lengths, spec: lora(1) }],
        [`${family}, rank 5`, { family, config, lengths, spec: lora(5) }],
      ]
    })
    cases.push(
      ['rank 64', { family: 'qwen3', config: even, lengths: [3, 30], spec: lora(64) }],
      ['a long text', { family: 'qwen3', config: even, lengths: [longest], spec: lora(16) }],
      ['a long text, all weights', { family: 'llama', config: { ...odd, hidden_size: 60 }, lengths: [longest, 5] }],
      ['a large vocabulary', { family: 'qwen2', config: { vocab_size: 4999 }, lengths: [4, 9], vocab: 4999 }],
      [
        'a large vocabulary with an adapter',
        { family: 'llama', config: { vocab_size: 4099 }, lengths: [4, 9], spec: lora(3), vocab: 4099 },
      ],
    )

    it.each(cases)('has the gradient of every tensor and all log-probabilities: %s (CPU-22)', async (_name, each) => {
      const { family, config, lengths, spec, vocab = 17 } = each
      const path = writeTinyModel(folder(), family, { ...context, ...config }, { spread })
      const random = keyedRandom(3, 'parity', family)
      const data = lengths.map((length) => textOf(length, vocab, random))
      const measure = async (engine: Engine, bytes?: Uint8Array) => {
        if (bytes === undefined) {
          await run(engine, {
            op: 'create',
            model: 'm',
            baseModel: 'base',
            ...(spec === undefined ? {} : { lora: spec }),
          })
          await run(engine, { op: 'import', model: 'm', bytes: awayFromZero(await bytesOf(engine)), optimizer: false })
        } else await run(engine, { op: 'import', model: 'm', bytes, optimizer: false })
        const start = await bytesOf(engine)
        const { outputs, metrics } = await pass(engine, data)
        await step(engine, { beta1: 0 })
        const gradients = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam?.first ?? new Map()
        return { outputs, loss: metrics['loss:sum'] ?? Number.NaN, gradients, start }
      }
      const options = { resolve: async () => ({ folder: path }) }
      await using reference = createReferenceEngine(options)
      await using engine = await create(options)
      const expected = await measure(reference)
      const found = await measure(engine, expected.start)
      expect(found.gradients.size).toBe(expected.gradients.size)
      for (const [name, { data: values }] of expected.gradients) {
        const distance = relativeDistance(found.gradients.get(name)?.data ?? [], values)
        expect.soft(distance, name).toBeLessThan(name.endsWith('k_proj.bias') ? keyBiasBound : 1e-5)
      }
      for (const [i, { logprobs }] of expected.outputs.entries()) {
        for (const [at, value] of (logprobs?.data ?? new Float64Array()).entries()) {
          expect(Math.abs((found.outputs[i]?.logprobs?.data[at] ?? Number.NaN) - value)).toBeLessThan(1e-4)
        }
      }
      expect(Math.abs(found.loss - expected.loss)).toBeLessThan(1e-4 * Math.abs(expected.loss))
    })

    it('adds many targets of a position, and policy losses (CPU-22)', async () => {
      const path = writeTinyModel(folder(), 'qwen3', { ...context, ...even }, { spread })
      const options = { resolve: async () => ({ folder: path }) }
      const shape = [4, 3]
      const many: Datum = {
        tokens: Int32Array.from([1, 2, 3, 4]),
        lossInputs: {
          target_tokens: { ...ints([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), shape },
          weights: floats([0.5, 0.25, 0, 1, -1, 0.1, 0, 0, 0, 0.3, 0.3, 0.4], shape),
        },
      }
      const policy: Datum = {
        tokens: Int32Array.from([5, 6, 7]),
        lossInputs: {
          target_tokens: ints([6, 7, 8]),
          logprobs: floats([-3, -2, -2.5]),
          advantages: floats([1, -2, 0]),
        },
      }
      const norms = []
      for (const open of [createReferenceEngine, create]) {
        await using engine = await open(options)
        await run(engine, { op: 'create', model: 'm', baseModel: 'base', lora: lora(4) })
        await pass(engine, [many, textOf(9, 17, keyedRandom(1, 'one'))])
        for (const name of ['importance_sampling', 'ppo', 'cispo', 'dro']) await pass(engine, [policy], { name })
        norms.push(await step(engine))
      }
      const [expected = Number.NaN, found = Number.NaN] = norms
      expect(Math.abs(found - expected)).toBeLessThan(1e-5 * expected)
    })
  })
}

function textOf(length: number, vocab: number, random: ReturnType<typeof keyedRandom>): Datum {
  const token = () => random.int(vocab)
  return {
    tokens: Int32Array.from({ length }, token),
    lossInputs: {
      target_tokens: ints(Array.from({ length }, token)),
      weights: floats(Array.from({ length }, () => random.normal())),
    },
  }
}

// Where B is zero the gradient by A vanishes. Values are those that float32 has.
function awayFromZero(bytes: Uint8Array): Uint8Array {
  const checkpoint = decodeCheckpoint(bytes)
  for (const [name, { data }] of checkpoint.weights) {
    const random = keyedRandom(9, name)
    for (const [i, value] of data.entries()) {
      data[i] = Math.fround(name.includes('lora_B') ? 0.02 * random.normal() : value)
    }
  }
  return encodeCheckpoint(checkpoint)
}
