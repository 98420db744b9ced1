// Models of a few hundred parameters with random weights, in folders as a real model has them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseModelConfig } from '../src/engine/files/model-config.ts'
import { tensorShapes } from '../src/engine/files/model-shape.ts'
import { encodeSafetensors } from '../src/engine/files/safetensors-file.ts'
import { keyedRandom } from '../src/kernel/index.ts'

export const tinyConfigs = {
  llama: {
    model_type: 'llama',
    hidden_size: 8,
    intermediate_size: 10,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    attention_bias: true,
    mlp_bias: true,
    rope_theta: 100,
    rope_scaling: {
      rope_type: 'llama3',
      factor: 4,
      low_freq_factor: 1,
      high_freq_factor: 3,
      original_max_position_embeddings: 8,
    },
  },
  qwen2: {
    model_type: 'qwen2',
    hidden_size: 8,
    intermediate_size: 10,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    tie_word_embeddings: true,
    rope_theta: 100,
    rope_scaling: { type: 'yarn', factor: 4, original_max_position_embeddings: 8 },
  },
  qwen3: {
    model_type: 'qwen3',
    hidden_size: 8,
    intermediate_size: 10,
    num_attention_heads: 4,
    num_key_value_heads: 2,
    head_dim: 6,
    rope_theta: 100,
  },
} as const

export const tinyVocab = 17
export const tinyContext = 24

/** Config text of a tiny model. */
export function tinyConfig(family: keyof typeof tinyConfigs, more: Readonly<Record<string, unknown>> = {}): string {
  const shared = {
    vocab_size: tinyVocab,
    num_hidden_layers: 2,
    max_position_embeddings: tinyContext,
    rms_norm_eps: 1e-5,
  }
  return JSON.stringify({ ...shared, ...tinyConfigs[family], ...more }, null, 2)
}

export type TinyWeights = {
  dtype?: 'F32' | 'BF16' | undefined
  /** Deviation of the weights of a map with so many inputs. */
  spread?: ((inputs: number) => number) | undefined
}

/** Writes a tiny model into `folder` and returns it. */
export function writeTinyModel(
  folder: string,
  family: keyof typeof tinyConfigs,
  more = {},
  { dtype = 'F32', spread = () => 0.4 }: TinyWeights = {},
): string {
  mkdirSync(folder, { recursive: true })
  const config = tinyConfig(family, more)
  writeFileSync(join(folder, 'config.json'), config)
  const tensors = [...tensorShapes(parseModelConfig(config, 'config.json'))].map(([name, shape]) => {
    const random = keyedRandom(1, family, name)
    const isNorm = name.includes('norm')
    const deviation = spread(shape.at(-1) ?? 1)
    const length = shape.reduce((product, axis) => product * axis, 1)
    const data = Float64Array.from({ length }, () => (isNorm ? 1 + 0.1 * random.normal() : deviation * random.normal()))
    return [name, { shape, data, dtype }] as const
  })
  writeFileSync(join(folder, 'model.safetensors'), encodeSafetensors(new Map(tensors), { format: 'pt' }))
  return folder
}
