// Drawing completions.
import * as z from 'zod'
import { ModelInput } from './model-input.ts'
import { TensorData } from './tensor-data.ts'

const AnyInteger = z.number().refine(Number.isInteger, 'expected a whole number')

/** How completions are drawn. `stop`: absent stops at the end-of-text token alone, an empty list stops nowhere. */
export const SamplingParams = z.object({
  max_tokens: z.int().min(0).nullish(),
  /** Any 64 bits: JSON carries more digits than a double holds. */
  seed: AnyInteger.nullish(),
  stop: z.union([z.string(), z.array(z.string()), z.array(z.int())]).nullish(),
  temperature: z.number().min(0).nullish(),
  top_k: z.int().min(-1).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
})
export type SamplingParams = z.infer<typeof SamplingParams>

/** Body of `asample`. What answers is named by session, by path or by base model. */
export const SampleRequest = z.object({
  sampling_session_id: z.string().nullish(),
  seq_id: z.int().min(0).nullish(),
  base_model: z.string().nullish(),
  model_path: z.string().nullish(),
  num_samples: z.int().min(1).default(1),
  prompt: ModelInput,
  sampling_params: SamplingParams,
  prompt_logprobs: z.boolean().nullish(),
  topk_prompt_logprobs: z.int().min(0).default(0),
  /** Since 0.30: the likeliest tokens at each sampled position. */
  topk_sample_logprobs: z.int().min(0).nullish(),
  /** Since 0.30: ids whose log-probabilities are asked for, `[prompt - 1, k]`. */
  target_prompt_logprobs: TensorData.nullish(),
  prompt_alt_tokens_k: z.int().min(0).nullish(),
  /** Scores the last tokens of the prompt alone. */
  prompt_logprobs_last_n: z.int().min(0).nullish(),
  type: z.literal('sample').nullish(),
})
export type SampleRequest = z.infer<typeof SampleRequest>
/** A request before defaults are filled in. */
export type SampleRequestInput = z.input<typeof SampleRequest>
