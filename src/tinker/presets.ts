// How services that speak the protocol differ from each other. Each difference is data here, read in one place elsewhere.

export interface Preset {
  readonly baseUrl?: string
  /** Key for services that want none, where none is given. */
  readonly apiKey?: string
  /** `auto`: protobuf first, JSON if the service does not take it. */
  readonly wire: 'auto' | 'json' | 'protobuf'
  /** Work is done in the order of its numbers. Where it is done as it arrives, the parts of a batch go one after the other. */
  readonly ordersBySeq: boolean
  /** How often a 400 for a promise is asked again. 0 where failed work is told that way. */
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
