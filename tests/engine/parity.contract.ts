// Numbers of an engine in float32 against those of the reference engine, tensor by tensor, through what every engine offers: with
// beta1 = 0 the first moment after a step is the gradient, and a text with every token as target has all of its logits.
import { describe, expect, it } from 'vitest'
import type { Datum, Engine, LoraSpec } from '../../src/contracts/index.ts'
import { decodeCheckpoint, encodeCheckpoint } from '../../src/engine/files/checkpoint.ts'
import { createReferenceEngine } from '../../src/engine/reference/reference-engine.ts'
import { type KeyedRandom, keyedRandom } from '../../src/kernel/index.ts'
import { inFullLane, scaled, scaledTokens } from '../scale.ts'
import { temporaryFolders } from '../temporary-folder.ts'
import { type tinyConfigs, writeTinyModel } from '../tiny-model.ts'
import { relativeDistance } from '../torch-fixture.ts'
import { bytesOf, type CreateEngine, floats, ints, lora, pass, rowsOf, run, step } from './engine-under-test.ts'

type Family = keyof typeof tinyConfigs
type Case = {
  family: Family
  config: Record<string, unknown>
  lengths: readonly number[]
  spec?: LoraSpec | undefined
  vocab?: number | undefined
}

// Sizes that fill no vector and no tile, and some that do.
const odd = { hidden_size: 36, intermediate_size: 53, num_attention_heads: 6, num_key_value_heads: 3, head_dim: 10 }
const even = { hidden_size: 64, intermediate_size: 96, num_attention_heads: 4, num_key_value_heads: 1, head_dim: 16 }
// Small enough that the reference engine reads thousands of tokens in a second.
const slim = { hidden_size: 20, intermediate_size: 14, num_attention_heads: 2, num_key_value_heads: 1, head_dim: 10 }

// As models are initialised: with more, each layer would blow rounding up, whoever computes.
const spread = (inputs: number) => 1 / Math.sqrt(inputs)

const families: readonly Family[] = ['llama', 'qwen2', 'qwen3']

export function describeParity(create: CreateEngine, { longest = scaledTokens(2048) } = {}): void {
  const folder = temporaryFolders()
  const context = { max_position_embeddings: 4096 }

  describe('against the reference engine', { timeout: 240_000 }, () => {
    const cases: [string, Case][] = families.flatMap((family): [string, Case][] => {
      const { head_dim: _, ...oddSizes } = odd
      const config = family === 'qwen3' ? odd : oddSizes
      const lengths = [1, 7, 2, 13]
      // The reference engine takes seconds for thousands of tokens: of the three families one is enough outside the full lane.
      const long = inFullLane || family === 'qwen3' ? longest : Math.min(longest, 500)
      return [
        [`${family}, all weights`, { family, config, lengths }],
        [`${family}, rank 1`, { family, config, lengths, spec: lora(1) }],
        [`${family}, rank 5`, { family, config, lengths, spec: lora(5) }],
        [`${family}, ${long} tokens`, { family, config: { ...slim, num_hidden_layers: 1 }, lengths: [long] }],
      ]
    })
    cases.push(
      ['a long text', { family: 'qwen3', config: even, lengths: [300], spec: lora(16) }],
      ['long texts, all weights', { family: 'llama', config: { ...odd, hidden_size: 60 }, lengths: [200, 5, 70] }],
      ['a large vocabulary', { family: 'qwen2', config: { vocab_size: 4999 }, lengths: [4, 9], vocab: 4999 }],
      [
        'a large vocabulary with an adapter',
        { family: 'llama', config: { vocab_size: 4099 }, lengths: [4, 9], spec: lora(3), vocab: 4099 },
      ],
    )
    const ranks = Array.from({ length: 64 }, (_, i) => i + 1)
    for (const rank of inFullLane ? ranks : [2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64]) {
      const family = families[rank % 3] ?? 'qwen3'
      cases.push([`rank ${rank}`, { family, config: slim, lengths: [3, 17], spec: lora(rank) }])
    }
    for (let i = 0; i < (inFullLane ? scaled(6) : 6); i++)
      cases.push([`drawn ${i}`, drawCase(keyedRandom(17, 'case', i), inFullLane ? longest : 200)])

    it.each(cases)('has the gradient of every tensor and all logits: %s (CPU-22)', async (_name, each) => {
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
        const rows = await rowsOf(engine, data, vocab)
        const { outputs, metrics } = await pass(engine, data)
        await step(engine, { beta1: 0 })
        const gradients = decodeCheckpoint(await bytesOf(engine, 'export_state')).adam?.first ?? new Map()
        return { outputs, rows, loss: metrics['loss:sum'] ?? Number.NaN, gradients, start }
      }
      const options = { resolve: async () => ({ folder: path }) }
      await using reference = createReferenceEngine(options)
      await using engine = await create(options)
      const expected = await measure(reference)
      const found = await measure(engine, expected.start)
      expect(found.gradients.size).toBe(expected.gradients.size)
      for (const [name, { data: values }] of expected.gradients) {
        const distance = relativeDistance(
          found.gradients.get(name)?.data ?? [],
          values,
          scaleOf(name, expected.gradients),
        )
        expect.soft(distance, name).toBeLessThan(1e-5)
      }
      for (const [i, row] of expected.rows.entries()) expect(largestDifference(found.rows[i], row)).toBeLessThan(1e-4)
      for (const [i, { logprobs }] of expected.outputs.entries()) {
        expect(largestDifference(found.outputs[i]?.logprobs?.data, logprobs?.data ?? [])).toBeLessThan(1e-4)
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

/** Any model and batch within what the engine promises: all families and sizes, rank 1 to 64, up to so many tokens. */
function drawCase(random: KeyedRandom, longest: number): Case {
  const upTo = (most: number) => Math.max(1, Math.round(most ** random.float())) // small ones as often as large ones
  const kvHeads = 1 + random.int(3)
  const heads = kvHeads * (1 + random.int(4))
  const vocab = 1 + upTo(3000)
  const total = 1 + upTo(Math.min(longest - 1, 2e5 / vocab, 4096 / heads)) // what the reference engine reads in seconds
  return {
    family: random.pick(families),
    config: {
      vocab_size: vocab,
      num_hidden_layers: 1 + random.int(3),
      hidden_size: 8 + random.int(60), // norms of less than 8 numbers blow rounding up, whoever computes
      intermediate_size: 1 + random.int(90),
      num_key_value_heads: kvHeads,
      num_attention_heads: heads,
      head_dim: 2 * (4 + random.int(12)),
      tie_word_embeddings: random.int(2) === 0,
      attention_bias: random.int(2) === 0,
      mlp_bias: random.int(2) === 0,
    },
    lengths: [total, ...Array.from({ length: random.int(5) }, () => upTo(40))],
    spec: random.int(3) === 0 ? undefined : lora(upTo(64)),
    vocab,
  }
}

type Gradients = ReadonlyMap<string, { readonly data: ArrayLike<number> }>

/**
 * What an error is held against: the norm of the tensor. A bias of keys is the exception. A shift of all keys changes no probability
 * but for the rotations, so that its gradient is what is left of parts that cancel, and may be as small as one likes. It is a column
 * of the matrix beside it, for an input that is always 1, and is held against the columns of that one.
 */
function scaleOf(name: string, gradients: Gradients): number {
  const own = norm(gradients.get(name)?.data ?? [])
  if (!name.endsWith('k_proj.bias')) return own
  const matrix = gradients.get(name.replace(/bias$/, 'weight'))?.data ?? []
  const columns = matrix.length / (gradients.get(name)?.data.length ?? 1)
  return Math.max(own, norm(matrix) / Math.sqrt(columns))
}

function norm(values: ArrayLike<number>): number {
  let sum = 0
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) ** 2
  return Math.sqrt(sum)
}

function largestDifference(found: ArrayLike<number> | undefined, expected: ArrayLike<number>): number {
  let largest = found?.length === expected.length ? 0 : Number.POSITIVE_INFINITY
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((found?.[i] ?? Number.NaN) - (expected[i] ?? Number.NaN))
    if (!(difference <= largest)) largest = difference // also one that is no number
  }
  return largest
}

function textOf(length: number, vocab: number, random: KeyedRandom): Datum {
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
