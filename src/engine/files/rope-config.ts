// The rotary part of a `config.json`: `rope_theta` and `rope_scaling`, or `rope_parameters`, which holds both.
import * as z from 'zod'
import type { Rope } from './model-shape.ts'

const positive = z.number().positive()

export const RopeFields = z.looseObject({
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

type Config = {
  rope_theta?: number | null | undefined
  rope_scaling?: RopeFields | null | undefined
  rope_parameters?: RopeFields | null | undefined
  max_position_embeddings: number
}

/** The rotation that a config asks for. With problems, it must not be used. */
export function parseRope(config: Config): { rope: Rope; problems: { path: string[]; message: string }[] } {
  const at = config.rope_parameters ? 'rope_parameters' : 'rope_scaling'
  const fields = config[at] ?? {}
  const theta = fields.rope_theta ?? config.rope_theta ?? 10_000
  const type = fields.rope_type ?? fields.type ?? 'default'
  const problems: { path: string[]; message: string }[] = []
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
