// The training protocol as the loop sees it: gradients, optimiser steps, checkpoints, samples. Every backend offers this,
// whatever stands behind it. Requests of one model take effect in the order in which they are made; how a wire keeps that order
// is the client's matter. A service is opened for one run and ends its requests when that run's signal aborts.
import * as z from 'zod'
import type { Metrics } from './quantity.ts'

/** A model in training: base weights, adapter, gradients and optimiser state. */
export type ModelId = string

/**
 * Result that is already on its way: requests pipeline, awaiting is separate from sending. The maker of one also handles its
 * rejection, since a later request may fail while the caller still awaits an earlier one.
 */
export type Future<T> = Promise<T>

/** A dense array with its shape, row-major. The wire carries integers as int64 and the rest as float32. */
export interface Tensor {
  readonly data: Float32Array | Float64Array | Int32Array
  readonly shape: readonly number[]
}

/**
 * One training example: tokens in, and per-token inputs of the loss (`target_tokens`, `weights`, `advantages`, `logprobs`).
 * The caller has shifted the targets: position t of an input belongs to the token that follows `tokens[t]`.
 */
export interface Datum {
  readonly tokens: Int32Array
  readonly lossInputs: Readonly<Record<string, Tensor>>
}

/** A loss that the service computes: `cross_entropy`, `importance_sampling`, `ppo`, ... A sum over tokens, never a mean. */
export interface NamedLoss {
  readonly name: string
  readonly config?: Readonly<Record<string, number>> | undefined
}

/** A loss that the caller computes from the log-probabilities of the targets, with its gradient for each of them. */
export interface CustomLoss {
  readonly custom: (
    data: readonly Datum[],
    logprobs: readonly Tensor[],
  ) => { loss: number; gradients: readonly Tensor[]; metrics?: Metrics | undefined }
}

/** What gradients are taken of. */
export type Loss = NamedLoss | CustomLoss

/** What a pass over a batch gave. */
export interface FwdBwd {
  /** One record per datum, in order; `logprobs` has the shape of the datum's `target_tokens`. */
  readonly outputs: readonly Readonly<Record<string, Tensor>>[]
  /** Keys are `name:reduction` as on the wire, `loss:sum` among them; those of a custom loss are its own. */
  readonly metrics: Metrics
}

/** AdamW with decoupled decay and bias correction. */
export interface Adam {
  readonly learningRate: number
  readonly beta1: number
  readonly beta2: number
  readonly eps: number
  /** Absent: none. */
  readonly weightDecay?: number | undefined
  /** Largest global norm of the gradient. Absent: not clipped. */
  readonly gradClipNorm?: number | undefined
}

/** `state` holds what training resumes from, `sampler` what answers are drawn from. */
export const CheckpointKind = z.enum(['state', 'sampler'])
export type CheckpointKind = z.infer<typeof CheckpointKind>

/** Address of saved weights of one kind. */
export interface RefOf<K extends CheckpointKind> {
  readonly kind: K
  readonly uri: string
}
/** Weights with the optimiser's state: training resumes from them, sampling does not take them. */
export type StateRef = RefOf<'state'>
/** Weights to sample from. */
export type SamplerRef = RefOf<'sampler'>
/** Address of saved weights; `kind` says what they are good for. */
export type Ref = StateRef | SamplerRef

/** Weights that answer: saved ones, or a base model as it came. */
export type Weights = SamplerRef | { readonly baseModel: string }

/** What ends a completion: texts or token ids, not both. */
export type Stop = readonly string[] | readonly number[]

/** A prompt and how its completions are drawn. */
export interface SampleReq {
  readonly model: Weights
  readonly prompt: Int32Array
  readonly numSamples: number
  readonly maxTokens: number
  /** 0 is greedy. */
  readonly temperature: number
  readonly topP?: number | undefined
  readonly topK?: number | undefined
  readonly stop?: Stop | undefined
  /** Root of the draws of this request; its samples differ from each other. */
  readonly seed: number
  readonly promptLogprobs?: boolean | undefined
  readonly topKPromptLogprobs?: number | undefined
}

/** One completion. */
export interface Sample {
  /** With the token that stopped it, where a token did. */
  readonly tokens: Int32Array
  /** Per token, under the distribution it was drawn from. */
  readonly logprobs: Float64Array
  readonly stopReason: 'stop' | 'length'
  /** Per prompt token; NaN for the first, which nothing predicts. Shared by the samples of one request. */
  readonly promptLogprobs?: Float64Array | undefined
  readonly topKPromptLogprobs?: TopKLogprobs | undefined
}

/** The likeliest tokens at each prompt position, row-major `[position, k]`; where there are fewer, -1 and NaN. */
export interface TopKLogprobs {
  readonly k: number
  readonly tokens: Int32Array
  readonly logprobs: Float64Array
}

/** How weights are saved. */
export interface SaveOptions<K extends CheckpointKind> {
  readonly kind: K
  /** Absent: kept until deleted. */
  readonly ttlSeconds?: number | undefined
}

/** Models in training and the samples drawn from them. */
export interface TrainingService {
  /** Log-probabilities without gradients. */
  forward(model: ModelId, data: readonly Datum[], loss: Loss): Future<FwdBwd>
  /** Adds to the gradients that the next `optimStep` uses up. */
  forwardBackward(model: ModelId, data: readonly Datum[], loss: Loss): Future<FwdBwd>
  optimStep(model: ModelId, adam: Adam): Future<Metrics>
  /** Saves the weights under a name that is new for this model and kind. */
  save<K extends CheckpointKind>(model: ModelId, name: string, options: SaveOptions<K>): Future<RefOf<K>>
  /**
   * Weights to sample from that live until they are removed, and no longer than this service: what an on-policy step draws its
   * rollouts from.
   */
  snapshot(model: ModelId): Future<SamplerRef>
  /** The first request of a model, if it comes at all. Without `optimizer`, Adam starts anew. */
  load(model: ModelId, ref: StateRef, options: { optimizer: boolean }): Future<void>
  /** `signal`: aborted when no one waits for it any more; a service that can then stops drawing. */
  sample(request: SampleReq, signal?: AbortSignal): Future<Sample[]>
  /** Deletes saved weights or a snapshot. Absent: the service keeps them until their time is up. */
  remove?: ((ref: Ref) => Future<void>) | undefined
}

// A numeric engine: executes operations on weights it holds. Knows no HTTP, no session, no queue, no file.
/** What decides the bytes of a result. Two engines with equal ids give equal results for equal seeds. */
export interface EngineId {
  readonly kind: string
  readonly sourceHash: string
  readonly threads: number
  readonly cpuFeatures: readonly string[]
}

/** A low-rank adapter over frozen base weights. */
export interface LoraSpec {
  readonly rank: number
  /** Root of its initial values. */
  readonly seed: number
  readonly trainAttention: boolean
  readonly trainMlp: boolean
  readonly trainUnembedding: boolean
}

/** One unit of work, all of it data: an engine may live in a thread or a separate process. */
export type EngineOp =
  | { readonly op: 'create'; readonly model: ModelId; readonly baseModel: string; readonly lora?: LoraSpec | undefined }
  | { readonly op: 'unload'; readonly model: ModelId }
  | {
      readonly op: 'forward' | 'forward_backward'
      readonly model: ModelId
      readonly data: readonly Datum[]
      readonly loss: NamedLoss
    }
  | { readonly op: 'optim_step'; readonly model: ModelId; readonly adam: Adam }
  | { readonly op: 'sample'; readonly model: ModelId; readonly request: Omit<SampleReq, 'model'> }
  /** Weights alone, or with the optimiser's state. */
  | { readonly op: 'export' | 'export_state'; readonly model: ModelId }
  | { readonly op: 'import'; readonly model: ModelId; readonly bytes: Uint8Array; readonly optimizer: boolean }

/** What an operation answers; `done` where there is nothing to say. */
export type EngineResult =
  | { readonly fwdBwd: FwdBwd }
  | { readonly metrics: Metrics }
  | { readonly samples: readonly Sample[] }
  | { readonly bytes: Uint8Array }
  | { readonly done: true }

/** Weights and the arithmetic on them. Operations run one after the other, in the order they were asked for. */
export interface Engine extends AsyncDisposable {
  readonly id: EngineId
  run(op: EngineOp, signal: AbortSignal): Promise<EngineResult>
}
