// How services that speak the protocol differ from each other. Each difference is data here, read in one place elsewhere.
import type * as tinker from '../contracts/tinker/index.ts'
import { ServiceError } from './service-error.ts'

export interface Preset {
  readonly baseUrl?: string | undefined
  /** Key for services that want none, where none is given. */
  readonly apiKey?: string | undefined
  /** `auto`: protobuf first, JSON if the service does not take it. */
  readonly wire: 'auto' | 'json' | 'protobuf'
  /** Work is done in the order of its numbers. Where it is done as it arrives, the parts of a batch go one after the other. */
  readonly ordersBySeq: boolean
  /** How often a 400 for a promise is asked again. 0 where failed work is reported that way. */
  readonly badRequestRetries: number
  /** Statuses that go away by themselves, besides the usual ones. */
  readonly retryStatus: readonly number[]
  /** Whether samples are drawn here, or elsewhere by other means. */
  readonly samples: boolean
  /** Losses that the service refuses, so that the refusal comes before the data is sent. */
  readonly lacksLosses: readonly string[]
  /** How all weights are trained instead of an adapter. */
  readonly fullTraining: 'rank_0' | 'no_lora' | 'never'
  /** Whether snapshots can be deleted before their session ends. */
  readonly deletesSnapshots: boolean
}

const plain = {
  wire: 'auto',
  ordersBySeq: true,
  badRequestRetries: 3,
  retryStatus: [],
  samples: true,
  lacksLosses: [],
  fullTraining: 'never',
  deletesSnapshots: false,
} as const satisfies Preset

/** The services that are known by name. */
export const presets = Object.freeze({
  /** `evsys serve`. */
  evsys: { ...plain, apiKey: 'tml-local', fullTraining: 'no_lora', deletesSnapshots: true },
  /** The hosted service. */
  tinker: { ...plain, baseUrl: 'https://tinker.thinkingmachines.dev/services/tinker-prod' },
  /** SkyRL: no keys; work as it arrives; a failed promise is a 400; a checkpoint being written is a 425. */
  skyrl: {
    ...plain,
    baseUrl: 'http://127.0.0.1:8000',
    apiKey: 'tml-dummy',
    ordersBySeq: false,
    badRequestRetries: 0,
    retryStatus: [425],
    lacksLosses: ['dro'],
  },
  /** TuFT. */
  tuft: { ...plain, baseUrl: 'http://127.0.0.1:10610' },
  /** Fireworks: one URL per trainer, rank 0 trains all weights, samples come from its own deployments. */
  fireworks: { ...plain, samples: false, fullTraining: 'rank_0' },
} as const satisfies Record<string, Preset>)

export type PresetName = keyof typeof presets

/** What a new model is. */
export type ModelSpec = {
  baseModel: string
  /** Rank of the adapter. Default 32; `full` trains all weights, where the service offers it. */
  rank?: number | 'full' | undefined
  seed?: number | undefined
  trainAttention?: boolean | undefined
  trainMlp?: boolean | undefined
  trainUnembedding?: boolean | undefined
  userMetadata?: Readonly<Record<string, string>> | undefined
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
      seed,
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
