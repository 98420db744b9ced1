// Work that is answered later: a promise, and what asking for it can bring.
import * as z from 'zod'

/** The answer to every asynchronous request. */
export const UntypedFuture = z.object({
  request_id: z.string(),
  model_id: z.string().nullish(),
  /** One id per sample, for `asample`; clients since 0.27 insist on it. */
  sample_sequence_ids: z.array(z.string()).nullish(),
})
export type UntypedFuture = z.infer<typeof UntypedFuture>

export const RetrieveFutureRequest = z.object({
  request_id: z.string(),
  allow_metadata_only: z.boolean().default(false),
})
export type RetrieveFutureRequest = z.infer<typeof RetrieveFutureRequest>

export const QueueState = z.enum(['active', 'paused_capacity', 'paused_rate_limit'])
export type QueueState = z.infer<typeof QueueState>

/** Not done yet: with status 200, or as the body of a 408. */
export const TryAgainResponse = z.object({
  type: z.literal('try_again'),
  request_id: z.string().nullish(),
  queue_state: z.string().nullish(),
  queue_state_reason: z.string().nullish(),
})
export type TryAgainResponse = z.infer<typeof TryAgainResponse>

/** Done, and large: the size comes first so that the client can make room. */
export const CompleteMetadata = z.object({
  status: z.literal('complete_metadata'),
  response_payload_size: z.number().min(0).nullish(),
})
export type CompleteMetadata = z.infer<typeof CompleteMetadata>

export const ErrorCategory = z.enum(['unknown', 'server', 'user'])
export type ErrorCategory = z.infer<typeof ErrorCategory>

/** Accepted, and failed. The status is 200. */
export const RequestFailedResponse = z.object({ error: z.string(), category: ErrorCategory.catch('unknown') })
export type RequestFailedResponse = z.infer<typeof RequestFailedResponse>

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
export type RetrieveFuturesRequest = z.infer<typeof RetrieveFuturesRequest>

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

/** Nobody waits for the result any more; the answer is empty. */
export const CancelFutureRequest = z.object({ request_id: z.string() })
export type CancelFutureRequest = z.infer<typeof CancelFutureRequest>
