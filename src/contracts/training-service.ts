// The training protocol as the loop sees it: gradients, optimiser steps, checkpoints, samples. Every backend offers this,
// whatever stands behind it. Requests of one model take effect in the order of their `seq`.

export type ModelId = string

/** Result that is already on its way: requests pipeline, awaiting is separate from sending. */
export type Future<T> = Promise<T>

/** A dense array with its shape, as the wire carries it. */
export interface Tensor {
  readonly data: Float32Array | Float64Array | Int32Array
  readonly shape: readonly number[]
}

/** One training example: tokens in, and per-token inputs of the loss (`target_tokens`, `weights`, `advantages`, ...). */
export interface Datum {
  readonly tokens: Int32Array
  readonly lossInputs: Readonly<Record<string, Tensor>>
}

/** A loss that the service computes by name, or one computed by the caller from log-probabilities. */
export type Loss =
  | { readonly name: string; readonly config?: Readonly<Record<string, number>> }
  | {
      readonly custom: (
        data: readonly Datum[],
        logprobs: readonly Tensor[],
      ) => { loss: number; gradients: Tensor[]; metrics?: Metrics }
    }

export type Metrics = Record<string, number>

export interface FwdBwd {
  /** Per datum, per output name (`logprobs`, ...). */
  readonly outputs: readonly Readonly<Record<string, Tensor>>[]
  readonly metrics: Metrics
}

export interface Adam {
  readonly learningRate: number
  readonly beta1: number
  readonly beta2: number
  readonly eps: number
  readonly weightDecay?: number
  readonly gradClipNorm?: number
}

/** Address of saved weights. */
export interface Ref {
  readonly kind: 'state' | 'sampler'
  readonly uri: string
}

export interface SampleReq {
  readonly model: ModelId | Ref
  readonly prompt: Int32Array
  readonly numSamples: number
  readonly maxTokens: number
  readonly temperature: number
  readonly topP?: number
  readonly topK?: number
  readonly stop?: readonly (string | number)[]
  readonly seed: number
  readonly promptLogprobs?: boolean
  readonly topKPromptLogprobs?: number
}

export interface Sample {
  readonly tokens: Int32Array
  readonly logprobs: Float64Array
  readonly stopReason: 'stop' | 'length'
  readonly promptLogprobs?: Float64Array
}

export interface TrainingService {
  forward(model: ModelId, data: readonly Datum[], loss: Loss, seq: number): Future<FwdBwd>
  forwardBackward(model: ModelId, data: readonly Datum[], loss: Loss, seq: number): Future<FwdBwd>
  optimStep(model: ModelId, adam: Adam, seq: number): Future<Metrics>
  save(model: ModelId, name: string, kind: Ref['kind']): Future<Ref>
  load(model: ModelId, ref: Ref, options: { optimizer: boolean }): Future<void>
  sample(request: SampleReq): Future<Sample[]>
}
