// What a new model is, in our words and in those of the wire.
import type * as tinker from '../contracts/tinker/index.ts'
import type { Preset } from './presets.ts'
import { ServiceError } from './service-error.ts'

/** What a new model is. */
export type ModelSpec = {
  baseModel: string
  /** Rank of the adapter. Default 32; `full` trains all weights, where the service offers it. */
  rank?: number | 'full'
  seed?: number
  trainAttention?: boolean
  trainMlp?: boolean
  trainUnembedding?: boolean
  userMetadata?: Readonly<Record<string, string>>
}

/** The part of the request that says what is trained; services differ in how they are asked for all weights. */
export function loraConfig(spec: ModelSpec, { fullTraining }: Preset): { lora_config?: unknown } {
  const { rank = 32, seed, trainAttention = true, trainMlp = true, trainUnembedding = true } = spec
  if (rank === 'full') {
    if (fullTraining === 'no_lora') return {}
    if (fullTraining === 'rank_0') return { lora_config: { rank: 0 } }
    throw new ServiceError('invalid', 'this service trains adapters only', { fix: 'give a rank.' })
  }
  if (!(Number.isInteger(rank) && rank >= 1))
    throw new ServiceError('invalid', `rank is ${rank}`, { fix: 'give a rank of 1 or more.' })
  if (!trainAttention && !trainMlp && !trainUnembedding) {
    throw new ServiceError('invalid', 'nothing of the model is trained', { fix: 'train at least one kind of layer.' })
  }
  return {
    lora_config: {
      rank,
      ...(seed === undefined ? {} : { seed }),
      train_attn: trainAttention,
      train_mlp: trainMlp,
      train_unembed: trainUnembedding,
    },
  }
}

/** The shape of a saved model. */
export function specOf(info: tinker.WeightsInfoResponse): ModelSpec {
  return {
    baseModel: info.base_model,
    rank: info.is_lora ? (info.lora_rank ?? 32) : 'full',
    trainAttention: info.train_attn ?? true,
    trainMlp: info.train_mlp ?? true,
    trainUnembedding: info.train_unembed ?? true,
  }
}
