// The start of a conversation: flags of the server, credentials, sessions and their life.
import * as z from 'zod'

export const ClientConfigRequest = z.object({ sdk_version: z.string().nullish() })

/** Flags by which a server steers its clients; each has a default, and `{}` is a legal answer. */
export const ClientConfigResponse = z.object({
  pjwt_auth_enabled: z.boolean().default(false),
  credential_default_source: z.string().default('api_key'),
  sample_dispatch_bytes_semaphore_size: z.int().min(1).default(10_485_760),
  inflight_response_bytes_semaphore_size: z.int().min(1).default(52_428_800),
  parallel_fwdbwd_chunks: z.boolean().default(true),
  proto_compress_fwdbwd: z.boolean().default(false),
  /** Read by 0.22 to 0.24: whether a pass is sent as protobuf, and whether forward goes through `forward_backward`. */
  proto_write_fwdbwd: z.boolean().optional(),
  fwd_via_fwdbwd: z.boolean().optional(),
  fwdbwd_max_chunk_len: z.int().min(1).default(1024),
  fwdbwd_max_chunk_bytes_count: z.int().min(1).default(5_000_000),
  fwdbwd_dispatch_bytes_semaphore_size: z.int().min(1).default(50_000_000),
  billing_exception_max_pause_duration_sec: z.number().default(3600),
  sample_no_retries: z.boolean().default(false),
  sample_enable_stuck_detection: z.boolean().default(true),
  sample_max_concurrent_requests: z.int().min(1).default(2000),
  use_pyqwest_transport: z.boolean().default(true),
  create_model_via_load_weights: z.boolean().default(false),
  /** Since 0.30 and later; a server that sets one offers the call it names. */
  sample_use_retrieve_futures: z.boolean().default(false),
  sample_join_sampling_session: z.boolean().default(false),
  custom_loss_server_side: z.boolean().default(false),
})
export type ClientConfigResponse = z.infer<typeof ClientConfigResponse>

/** Flags that a living client asks for again. */
export const ClientDynamicConfigResponse = z.object({
  refresh_interval_sec: z.number().default(300),
  /** Whether `cancel_future` stops work that no one waits for any more. */
  sample_cancel_enabled: z.boolean().default(false),
})
export type ClientDynamicConfigResponse = z.infer<typeof ClientDynamicConfigResponse>

export const AuthTokenResponse = z.object({ jwt: z.string() })

export const HealthResponse = z.object({ status: z.string() })
export type HealthResponse = z.infer<typeof HealthResponse>

export const SupportedModel = z.object({
  model_name: z.string().nullish(),
  max_context_length: z.int().nullish(),
  trainable: z.boolean().nullish(),
  sampleable: z.boolean().nullish(),
})
export const ServerCapabilities = z.object({ supported_models: z.array(SupportedModel) })
export type ServerCapabilities = z.infer<typeof ServerCapabilities>

/** What a user attaches. Requests may hold any value, answers hold text. */
export const UserMetadata = z
  .record(z.string(), z.unknown())
  .refine(isShort, 'metadata of more than 65536 characters are not kept')

const longestMetadata = 65_536

function isShort(metadata: unknown): boolean {
  try {
    return JSON.stringify(metadata).length <= longestMetadata
  } catch {
    return false // nested too deeply to be written
  }
}

export const CreateSessionRequest = z.object({
  tags: z.array(z.string()).nullish(),
  user_metadata: UserMetadata.nullish(),
  sdk_version: z.string().nullish(),
  project_id: z.string().nullish(),
  display_name: z.string().nullish(),
  type: z.literal('create_session').nullish(),
})

export const CreateSessionResponse = z.object({
  type: z.literal('create_session').nullish(),
  session_id: z.string(),
  info_message: z.string().nullish(),
  warning_message: z.string().nullish(),
  error_message: z.string().nullish(),
})

export const SessionHeartbeatRequest = z.object({
  session_id: z.string(),
  type: z.literal('session_heartbeat').nullish(),
})

/** Body of `sessions/{id}/finish`, with which newer clients say that they are done. */
export const SessionFinishRequest = z.object({
  reason: z.object({ type: z.enum(['success', 'errored', 'interrupted']) }),
  detail: z.string().nullish(),
})

export const SessionResponse = z.object({
  training_run_ids: z.array(z.string()),
  sampler_ids: z.array(z.string()),
  user_metadata: UserMetadata.nullish(),
  display_name: z.string().nullish(),
})

export const ListSessionsResponse = z.object({ sessions: z.array(z.string()) })

export const CreateSamplingSessionRequest = z.object({
  session_id: z.string(),
  sampling_session_seq_id: z.int().min(0),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  type: z.literal('create_sampling_session').nullish(),
})
export type CreateSamplingSessionRequest = z.infer<typeof CreateSamplingSessionRequest>
export const CreateSamplingSessionResponse = z.object({
  type: z.literal('create_sampling_session').nullish(),
  sampling_session_id: z.string(),
})

/** Since 0.34: a copy of a sampling client asks for a separate range of numbers. */
export const JoinSamplingSessionRequest = z.object({
  sampling_session_id: z.string(),
  type: z.literal('join_sampling_session').nullish(),
})

export const SamplerResponse = z.object({
  sampler_id: z.string(),
  base_model: z.string(),
  model_path: z.string().nullish(),
})
export type SamplerResponse = z.infer<typeof SamplerResponse>

/** Telemetry is taken as it comes. */
export const TelemetryRequest = z.object({ events: z.array(z.unknown()), session_id: z.string().nullish() })
