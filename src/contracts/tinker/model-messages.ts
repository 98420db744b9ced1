// Models in training: made, described, stepped, saved, loaded.
import * as z from 'zod'
import { UserMetadata } from './session-messages.ts'

export const LoraConfig = z.object({
  rank: z.int().min(0),
  seed: z.number().refine(Number.isInteger, 'expected a whole number').nullish(),
  train_unembed: z.boolean().default(true),
  train_mlp: z.boolean().default(true),
  train_attn: z.boolean().default(true),
})
export type LoraConfig = z.infer<typeof LoraConfig>

/** Since 0.32: the family of the optimiser, fixed when the model is made. */
export const OptimizerConfig = z.looseObject({ type: z.string() })
export type OptimizerConfig = z.infer<typeof OptimizerConfig>

export const CreateModelRequest = z.object({
  session_id: z.string(),
  model_seq_id: z.int().min(0),
  base_model: z.string(),
  user_metadata: UserMetadata.nullish(),
  /** Absent: all weights are trained, where a server offers that. */
  lora_config: LoraConfig.nullish(),
  optimizer_config: OptimizerConfig.nullish(),
  type: z.literal('create_model').nullish(),
})
export type CreateModelRequest = z.infer<typeof CreateModelRequest>
export const CreateModelResponse = z.object({ model_id: z.string(), type: z.literal('create_model').nullish() })

/** Body of the calls that name a model and nothing else: `get_info`, `unload_model`. */
export const ModelRequest = z.object({ model_id: z.string(), type: z.string().nullish() })
export type ModelRequest = z.infer<typeof ModelRequest>
export const UnloadModelResponse = z.object({ model_id: z.string(), type: z.literal('unload_model').nullish() })

export const GetInfoResponse = z.object({
  type: z.literal('get_info').nullish(),
  model_id: z.string(),
  model_data: z.object({
    arch: z.string().nullish(),
    model_name: z.string().nullish(),
    tokenizer_id: z.string().nullish(),
  }),
  is_lora: z.boolean().nullish(),
  lora_rank: z.int().nullish(),
  model_name: z.string().nullish(),
  optimizer_config: OptimizerConfig.nullish(),
  /** Sent by `evsys serve` alone: what decides the bytes of results, and the longest sequence. */
  engine_id: z.string().nullish(),
  max_context_length: z.int().nullish(),
})
export type GetInfoResponse = z.infer<typeof GetInfoResponse>

/** AdamW; `grad_clip_norm` 0 means that nothing is clipped. */
export const AdamParams = z.object({
  learning_rate: z.number().min(0).default(1e-4),
  beta1: z.number().min(0).lt(1).default(0.9),
  beta2: z.number().min(0).lt(1).default(0.95),
  eps: z.number().min(0).default(1e-12),
  weight_decay: z.number().min(0).default(0),
  grad_clip_norm: z.number().min(0).default(0),
})
export type AdamParams = z.infer<typeof AdamParams>

export const OptimStepRequest = z.object({
  model_id: z.string(),
  seq_id: z.int().min(0).nullish(),
  adam_params: AdamParams.nullish(),
  /** Since 0.32: settings of another family. */
  optimizer_params: OptimizerConfig.nullish(),
  type: z.literal('optim_step').nullish(),
})
export type OptimStepRequest = z.infer<typeof OptimStepRequest>
export const OptimStepResponse = z.object({ metrics: z.record(z.string(), z.number()).nullish() })

const saving = {
  model_id: z.string(),
  seq_id: z.int().min(0).nullish(),
  path: z.string().nullish(),
  ttl_seconds: z.int().nullish(),
  user_metadata: UserMetadata.nullish(),
}

export const SaveWeightsRequest = z.object({
  ...saving,
  overwrite: z.boolean().default(false),
  type: z.literal('save_weights').nullish(),
})
export type SaveWeightsRequest = z.infer<typeof SaveWeightsRequest>
export const SaveWeightsResponse = z.object({ path: z.string(), type: z.literal('save_weights').nullish() })

/** With `path` a named checkpoint, with `sampling_session_seq_id` a sampler that ends with its session. */
export const SaveWeightsForSamplerRequest = z.object({
  ...saving,
  sampling_session_seq_id: z.int().min(0).nullish(),
  type: z.literal('save_weights_for_sampler').nullish(),
})
export type SaveWeightsForSamplerRequest = z.infer<typeof SaveWeightsForSamplerRequest>
export const SaveWeightsForSamplerResponse = z.object({
  path: z.string().nullish(),
  sampling_session_id: z.string().nullish(),
  type: z.literal('save_weights_for_sampler').nullish(),
})

/** Into a model (`model_id`, `seq_id`), or as the making of one (`session_id`, `model_seq_id`). */
export const LoadWeightsRequest = z.object({
  model_id: z.string().nullish(),
  seq_id: z.int().min(0).nullish(),
  session_id: z.string().nullish(),
  model_seq_id: z.int().min(0).nullish(),
  path: z.string(),
  optimizer: z.boolean(),
  base_model: z.string().nullish(),
  user_metadata: UserMetadata.nullish(),
  optimizer_config: OptimizerConfig.nullish(),
  weights_access_token: z.string().nullish(),
  type: z.literal('load_weights').nullish(),
})
export type LoadWeightsRequest = z.infer<typeof LoadWeightsRequest>
export const LoadWeightsResponse = z.object({
  path: z.string().nullish(),
  model_id: z.string().nullish(),
  type: z.literal('load_weights').nullish(),
})

export const WeightsInfoRequest = z.object({ tinker_path: z.string() })
export const WeightsInfoResponse = z.object({
  base_model: z.string(),
  is_lora: z.boolean(),
  lora_rank: z.int().nullish(),
  train_unembed: z.boolean().nullish(),
  train_mlp: z.boolean().nullish(),
  train_attn: z.boolean().nullish(),
  optimizer_config: OptimizerConfig.nullish(),
})
export type WeightsInfoResponse = z.infer<typeof WeightsInfoResponse>

// Work that is answered later: a promise, and what asking for it can bring.
/** The answer to every asynchronous request. */
export const UntypedFuture = z.object({
  request_id: z.string(),
  model_id: z.string().nullish(),
  /** One id per sample, for `asample`; clients since 0.27 insist on it. */
  sample_sequence_ids: z.array(z.string()).nullish(),
})
export type UntypedFuture = z.infer<typeof UntypedFuture>

/** Not part of the protocol. `prefer: wait=0` asks our own trainer for the result in place of the promise, if it is there at once. */
export const wantsResult = 'wait=0'
/** The id of the promise, with an answer that is the result. */
export const requestIdHeader = 'x-evsys-request-id'

export const RetrieveFutureRequest = z.object({
  request_id: z.string(),
  allow_metadata_only: z.boolean().default(false),
})

export const QueueState = z.enum(['active', 'paused_capacity', 'paused_rate_limit'])
export type QueueState = z.infer<typeof QueueState>

/** Not done yet: with status 200, or as the body of a 408. */
export const TryAgainResponse = z.object({
  type: z.literal('try_again'),
  request_id: z.string().nullish(),
  queue_state: z.string().nullish(),
  queue_state_reason: z.string().nullish(),
})

/** Done, and large: the size comes first so that the client can make room. */
export const CompleteMetadata = z.object({
  status: z.literal('complete_metadata'),
  response_payload_size: z.number().min(0).nullish(),
})

export const ErrorCategory = z.enum(['unknown', 'server', 'user'])
export type ErrorCategory = z.infer<typeof ErrorCategory>

/** Accepted, and failed. The status is 200. */
export const RequestFailedResponse = z.object({ error: z.string(), category: ErrorCategory.catch('unknown') })

/** Since 0.30: which requests of one sampling session are done. */
export const RetrieveFuturesRequest = z.object({
  target: z.object({
    type: z.literal('sampling_session').nullish(),
    sampling_session_id: z.string(),
    /** `seq_id` divided by 10^9: the copy of the client that asks. */
    cloned_sampler_id: z.int().min(0).default(0),
  }),
  prev_cursor: z.int().min(0).default(0),
  timeout: z.number().nullish(),
  retrieved_request_ids: z.array(z.string()).default([]),
})

export const FutureCompletion = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('finished'),
    request_id: z.string(),
    response_payload_uncompressed_size: z.int().nullish(),
  }),
  z.object({ state: z.literal('failed'), request_id: z.string() }),
])
export type FutureCompletion = z.infer<typeof FutureCompletion>
export const RetrieveFuturesResponse = z.object({ completions: z.array(FutureCompletion), cursor: z.int() })
export type RetrieveFuturesResponse = z.infer<typeof RetrieveFuturesResponse>

/** No one waits for the result any more; the answer is empty. */
export const CancelFutureRequest = z.object({ request_id: z.string() })
