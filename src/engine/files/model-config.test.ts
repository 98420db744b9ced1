import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scaled } from '../../../tests/scale.ts'
import { temporaryFolders } from '../../../tests/temporary-folder.ts'
import { tinyConfig, type tinyConfigs } from '../../../tests/tiny-model.ts'
import { torchCases, torchFixture } from '../../../tests/torch-fixture.ts'
import { EvsysError } from '../../kernel/index.ts'
import { parseModelConfig, readModelConfig } from './model-config.ts'

const folder = temporaryFolders()
const parse = (text: string) => parseModelConfig(text, 'm/config.json')
const llama = (more: object = {}) =>
  parse(
    JSON.stringify({
      model_type: 'llama',
      vocab_size: 10,
      hidden_size: 8,
      intermediate_size: 4,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      max_position_embeddings: 64,
      ...more,
    }),
  )

function problemsOf(text: string): EvsysError['problems'] {
  try {
    parse(text)
  } catch (error) {
    if (EvsysError.is(error)) return error.problems
    throw error
  }
  return expect.fail('no error')
}

describe('config.json', () => {
  it.each(torchCases)('of %s, as transformers 5 writes it, becomes a shape (ENG-2)', async (name) => {
    const shape = await readModelConfig(torchFixture(name).folder)
    expect(shape).toMatchObject({
      family: name.split('-')[0],
      vocabSize: 32,
      layers: 2,
      maxPositions: 64,
      eosTokens: [1],
    })
    expect(name).toContain(shape.rope.type)
  })

  it('fills in what the families leave out (ENG-2)', () => {
    expect(llama()).toEqual({
      family: 'llama',
      vocabSize: 10,
      hiddenSize: 8,
      intermediateSize: 4,
      layers: 1,
      heads: 2,
      kvHeads: 2,
      headDim: 4,
      normEps: 1e-6,
      tiedEmbeddings: false,
      qkvBias: false,
      outputBias: false,
      mlpBias: false,
      qkNorm: false,
      rope: { type: 'default', theta: 10_000 },
      maxPositions: 64,
      eosTokens: [],
    })
    expect(llama({ model_type: 'qwen2', eos_token_id: [3, 4] })).toMatchObject({
      qkvBias: true,
      outputBias: false,
      eosTokens: [3, 4],
    })
    expect(llama({ model_type: 'qwen3' })).toMatchObject({ qkNorm: true, headDim: 128 })
    expect(llama({ attention_bias: true, mlp_bias: true })).toMatchObject({
      qkvBias: true,
      outputBias: true,
      mlpBias: true,
    })
  })

  it.each([
    [
      { rope_theta: 5, rope_scaling: null },
      { type: 'default', theta: 5 },
    ],
    [{ rope_scaling: { type: 'linear', factor: 2 } }, { type: 'linear', theta: 10_000, factor: 2 }],
    [{ rope_parameters: { rope_type: 'default', rope_theta: 7 } }, { type: 'default', theta: 7 }],
    [
      { rope_theta: 9, rope_scaling: { rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 } },
      { type: 'llama3', theta: 9, factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositions: 64 },
    ],
    [
      { rope_scaling: { type: 'yarn', factor: 4, original_max_position_embeddings: 16 } },
      {
        type: 'yarn',
        theta: 10_000,
        factor: 4,
        betaFast: 32,
        betaSlow: 1,
        originalMaxPositions: 16,
        attentionFactor: 0.1 * Math.log(4) + 1,
        truncate: true,
      },
    ],
  ])('reads the rotation of %j (ENG-2)', (more, rope) => {
    expect(llama(more).rope).toEqual(rope)
  })

  it.each<[string, object, string, RegExp]>([
    ['another family', { model_type: 'gemma3' }, 'model_type', /llama/],
    ['another activation', { hidden_act: 'gelu' }, 'hidden_act', /silu/],
    ['a window', { use_sliding_window: true }, 'use_sliding_window', /false/],
    ['layers of another kind', { layer_types: ['sliding_attention'] }, 'layer_types.0', /full_attention/],
    [
      'layers that are not named',
      { layer_types: ['full_attention', 'full_attention'] },
      'layer_types',
      /must name 1 layers/,
    ],
    ['quantised weights', { quantization_config: { bits: 4 } }, 'quantization_config', /null/],
    [
      'another rotation',
      { rope_scaling: { rope_type: 'dynamic', factor: 2 } },
      'rope_scaling.rope_type',
      /"dynamic" is not computed/,
    ],
    ['half a rotation', { rope_parameters: { rope_type: 'linear' } }, 'rope_parameters.factor', /is needed for linear/],
    [
      'a part that is rotated',
      { rope_parameters: { partial_rotary_factor: 0.5 } },
      'rope_parameters.partial_rotary_factor',
      /1/,
    ],
    ['heads that do not divide', { num_key_value_heads: 3 }, 'num_key_value_heads', /does not divide/],
    ['heads that do not fit', { num_attention_heads: 3 }, 'num_attention_heads', /does not divide hidden_size 8/],
    ['an odd head', { head_dim: 3 }, 'head_dim', /even/],
    ['no layer', { num_hidden_layers: 0 }, 'num_hidden_layers', /1/],
    ['a size that is text', { hidden_size: '8' }, 'hidden_size', /number/],
    ['a vocabulary without end', { vocab_size: 1e15 }, 'vocab_size', /100000000/],
  ])('refuses %s, at its place (ENG-2)', (_what, more, path, message) => {
    expect(() => llama(more)).toThrow(
      expect.objectContaining({
        code: 'MODEL_INVALID',
        message: expect.stringMatching(message),
        where: expect.objectContaining({ file: 'm/config.json', path }),
      }),
    )
  })

  it('reports everything that is wrong, in the order of the file (ENG-2)', () => {
    const problems = problemsOf(
      '{\n  "vocab_size": 0,\n  "model_type": "gpt2",\n  "rope_scaling": {\n    "factor": -1\n  }\n}',
    )
    const located = problems.filter(({ where }) => (where?.line ?? 1) > 1)
    expect(located.map(({ where }) => [where?.path, where?.line, where?.col])).toEqual([
      ['vocab_size', 2, 17],
      ['model_type', 3, 17],
      ['rope_scaling.factor', 5, 15],
    ])
    expect(problems.map(({ where }) => where?.path)).toContain('hidden_size')
  })

  it('is refused when it is no JSON, or says a thing twice (ENG-2)', () => {
    expect(problemsOf('{"a": 1,\n oops}')).toMatchObject([{ message: 'm/config.json: is no JSON' }])
    expect(problemsOf('{"vocab_size": 1, "vocab_size": 2}')).toMatchObject([
      { message: expect.stringMatching(/twice/) },
    ])
  })

  it('is refused when it is missing, a folder, or far too long (ENG-2)', async () => {
    await expect(readModelConfig(folder())).rejects.toMatchObject({ code: 'FILE_FAILED' })
    const odd = folder()
    mkdirSync(join(odd, 'config.json'))
    await expect(readModelConfig(odd)).rejects.toMatchObject({ code: 'FILE_FAILED' })
    const long = folder()
    writeFileSync(join(long, 'config.json'), ' '.repeat(10_000_001))
    await expect(readModelConfig(long)).rejects.toMatchObject({ code: 'MODEL_INVALID' })
  })

  it('mutated in any way is a shape or a located error, never a crash (ENG-2)', () => {
    const keys = Object.keys(JSON.parse(tinyConfig('llama')))
    const value = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom(-1, 0, 1e308, '', null, [], {}))
    const mutated = fc.oneof(
      fc
        .tuple(
          fc.constantFrom('llama', 'qwen2', 'qwen3'),
          fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 3 }),
        )
        .map(([family, more]) => tinyConfig(family as keyof typeof tinyConfigs, more)), // one of the three above
      fc
        .tuple(fc.nat(), fc.string({ maxLength: 3 }))
        .map(([at, more]) => tinyConfig('qwen3').slice(0, at % 400) + more + tinyConfig('qwen3').slice((at % 400) + 1)),
      fc.json(),
      fc.nat(20_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
      fc.string(),
    )
    fc.assert(
      fc.property(mutated, (text) => {
        try {
          expect(parse(text).headDim % 2).toBe(0)
        } catch (error) {
          expect(error).toMatchObject({ code: 'MODEL_INVALID', where: { file: 'm/config.json' } })
        }
      }),
      { numRuns: scaled(150) },
    )
  })
})
