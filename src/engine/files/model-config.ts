// `config.json` of a model, as transformers writes it (before and since its version 5), turned into a shape. What would change
// the numbers and is not computed here is refused, never ignored.
import { join } from 'node:path'
import * as z from 'zod'
import { EvsysError, jsonPlace, placeOf } from '../../kernel/index.ts'
import { duplicateKey, invalidModel, readText } from './json-places.ts'
import type { ModelShape, Rope } from './model-shape.ts'

// The rotary part of a `config.json`: `rope_theta` and `rope_scaling`, or `rope_parameters`, which holds both.
const positive = z.number().positive()

const RopeFields = z.looseObject({
  rope_type: z.string().nullish(),
  /** As older files call it. */
  type: z.string().nullish(),
  rope_theta: positive.nullish(),
  factor: positive.nullish(),
  low_freq_factor: positive.nullish(),
  high_freq_factor: positive.nullish(),
  original_max_position_embeddings: z.int().min(1).nullish(),
  attention_factor: positive.nullish(),
  beta_fast: positive.nullish(),
  beta_slow: positive.nullish(),
  mscale: z.number().nullish(),
  mscale_all_dim: z.number().nullish(),
  truncate: z.boolean().nullish(),
  partial_rotary_factor: z.literal(1).nullish(),
})
type RopeFields = z.infer<typeof RopeFields>

/** The rotation that a config asks for. With problems, it must not be used. */
function parseRope(config: ModelConfig): { rope: Rope; problems: ConfigProblem[] } {
  const at = config.rope_parameters ? 'rope_parameters' : 'rope_scaling'
  const fields = config[at] ?? {}
  const theta = fields.rope_theta ?? config.rope_theta ?? 10_000
  const type = fields.rope_type ?? fields.type ?? 'default'
  const problems: ConfigProblem[] = []
  const required = (name: 'factor' | 'low_freq_factor' | 'high_freq_factor') => {
    const value = fields[name]
    if (value === null || value === undefined) problems.push({ path: [at, name], message: `is needed for ${type}` })
    return value ?? 1
  }
  const originalMaxPositions = fields.original_max_position_embeddings ?? config.max_position_embeddings
  const rope = ((): Rope => {
    switch (type) {
      case 'default':
        return { type, theta }
      case 'linear':
        return { type, theta, factor: required('factor') }
      case 'llama3': {
        const [lowFreqFactor, highFreqFactor] = [required('low_freq_factor'), required('high_freq_factor')]
        if (problems.length === 0 && lowFreqFactor >= highFreqFactor) {
          problems.push({ path: [at, 'high_freq_factor'], message: 'must be above low_freq_factor' })
        }
        return { type, theta, factor: required('factor'), lowFreqFactor, highFreqFactor, originalMaxPositions }
      }
      case 'yarn': {
        if (theta <= 1) problems.push({ path: [at, 'rope_theta'], message: 'must be above 1 for yarn' })
        const factor = fields.factor ?? config.max_position_embeddings / originalMaxPositions
        return {
          type,
          theta,
          factor,
          betaFast: fields.beta_fast ?? 32,
          betaSlow: fields.beta_slow ?? 1,
          originalMaxPositions,
          attentionFactor: fields.attention_factor ?? attentionFactor(factor, fields),
          truncate: fields.truncate ?? true,
        }
      }
      default:
        problems.push({
          path: [at, fields.rope_type ? 'rope_type' : 'type'],
          message: `"${type}" is not computed here; known: default, linear, llama3, yarn`,
        })
        return { type: 'default', theta }
    }
  })()
  return { rope, problems }
}

// YaRN (Peng et al. 2023), section 3.4, with the two weights that DeepSeek's files add.
function attentionFactor(factor: number, { mscale, mscale_all_dim }: RopeFields): number {
  const scale = (weight: number) => (factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1)
  return mscale && mscale_all_dim ? scale(mscale) / scale(mscale_all_dim) : scale(1)
}

/** Bounds each number, so that no sum of them leaves what is exact. */
const count = z.int().min(1).max(100_000_000)
const size = z.int().min(1).max(1_000_000)

const ModelConfig = z.looseObject({
  model_type: z.enum(['llama', 'qwen2', 'qwen3']),
  vocab_size: count,
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: z.int().min(1).max(10_000),
  num_attention_heads: size,
  num_key_value_heads: size.nullish(),
  head_dim: size.nullish(),
  hidden_act: z.literal('silu').nullish(),
  rms_norm_eps: z.number().positive().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  attention_bias: z.boolean().nullish(),
  mlp_bias: z.boolean().nullish(),
  max_position_embeddings: count,
  rope_theta: z.number().positive().nullish(),
  rope_scaling: RopeFields.nullish(),
  rope_parameters: RopeFields.nullish(),
  use_sliding_window: z.literal(false).nullish(),
  layer_types: z.array(z.literal('full_attention')).nullish(),
  quantization_config: z.null().optional(),
  eos_token_id: z.union([z.int(), z.array(z.int()).max(1000)]).nullish(),
})
type ModelConfig = z.infer<typeof ModelConfig>
type ConfigProblem = { path: string[]; message: string }

/** The shape of the model in a folder. */
export async function readModelConfig(folder: string): Promise<ModelShape> {
  const file = join(folder, 'config.json')
  return parseModelConfig(await readText(file), file)
}

/** The shape that a `config.json` describes, or everything that is wrong with it, at its places. */
export function parseModelConfig(text: string, file: string): ModelShape {
  const value = parseJson(text, file)
  const duplicate = duplicateKey(text)
  const problem = (steps: readonly PropertyKey[], message: string) => {
    const path = steps.map(String).join('.')
    const where = { ...jsonPlace(text, steps as (string | number)[], file), path } // JSON has no symbols
    return { where, error: invalidModel(file, `${path || 'the text'}: ${message}`, { where }) }
  }
  if (duplicate !== undefined) throw problem([duplicate.key], 'is given twice').error
  const parsed = ModelConfig.safeParse(value)
  const problems = parsed.success
    ? crossChecks(parsed.data).map(({ path, message }) => problem(path, message))
    : parsed.error.issues.map((issue) => problem(issue.path, issue.message))
  if (!parsed.success || problems.length > 0) {
    const inOrder = problems.sort((a, b) => a.where.line - b.where.line || a.where.col - b.where.col)
    throw EvsysError.many(inOrder.map(({ error }) => error))
  }
  return shapeOf(parsed.data)
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const offset = Number(/position (\d+)/.exec(String(cause))?.[1] ?? text.length)
    throw invalidModel(file, 'is no JSON', { where: { file, ...placeOf(text, offset) } })
  }
}

function crossChecks(config: ModelConfig): ConfigProblem[] {
  const { num_attention_heads: heads } = config
  const found: ConfigProblem[] = []
  if (heads % (config.num_key_value_heads ?? heads) !== 0) {
    found.push({ path: ['num_key_value_heads'], message: `does not divide the ${heads} attention heads` })
  }
  if (!Number.isInteger(headDimOf(config))) {
    found.push({ path: ['num_attention_heads'], message: `does not divide hidden_size ${config.hidden_size}` })
  } else if (headDimOf(config) % 2 !== 0) {
    found.push({ path: ['head_dim'], message: 'must be even: rotations act on pairs' })
  }
  if (config.layer_types && config.layer_types.length !== config.num_hidden_layers) {
    found.push({ path: ['layer_types'], message: `must name ${config.num_hidden_layers} layers` })
  }
  return [...found, ...parseRope(config).problems]
}

function shapeOf(config: ModelConfig): ModelShape {
  const { model_type: family, num_attention_heads: heads, attention_bias, eos_token_id: eos } = config
  const biases = family === 'qwen2' ? { qkvBias: true, outputBias: false } : both(attention_bias ?? false)
  return {
    family,
    vocabSize: config.vocab_size,
    hiddenSize: config.hidden_size,
    intermediateSize: config.intermediate_size,
    layers: config.num_hidden_layers,
    heads,
    kvHeads: config.num_key_value_heads ?? heads,
    headDim: headDimOf(config),
    normEps: config.rms_norm_eps ?? 1e-6,
    tiedEmbeddings: config.tie_word_embeddings ?? false,
    ...biases,
    mlpBias: family === 'llama' && (config.mlp_bias ?? false),
    qkNorm: family === 'qwen3',
    rope: parseRope(config).rope,
    maxPositions: config.max_position_embeddings,
    eosTokens: eos === null || eos === undefined ? [] : [eos].flat(),
  }
}

function headDimOf({ model_type, head_dim, hidden_size, num_attention_heads }: ModelConfig): number {
  return head_dim ?? (model_type === 'qwen3' ? 128 : hidden_size / num_attention_heads)
}

const both = (has: boolean) => ({ qkvBias: has, outputBias: has })
