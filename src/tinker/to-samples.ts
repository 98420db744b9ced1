// Completions of the wire as the training loop has them.
import type { Sample, TopKLogprobs } from '../contracts/index.ts'
import * as tinker from '../contracts/tinker/index.ts'
import type { SampleCall } from './sampler.ts'
import { ServiceError } from './service-error.ts'

export function toSamples(response: tinker.SampleResponse, request: SampleCall, requestId: string): Sample[] {
  const { sequences, prompt_logprobs, topk_prompt_logprobs } = response
  if (sequences.length !== request.numSamples) {
    const message = `${request.numSamples} samples were asked for, ${sequences.length} came back`
    throw new ServiceError('protocol', message, { requestId })
  }
  const shared = {
    ...(request.promptLogprobs !== true || prompt_logprobs === undefined
      ? {}
      : { promptLogprobs: alignedLogprobs(prompt_logprobs, request.prompt.length, requestId) }),
    ...(request.topKPromptLogprobs === undefined || topk_prompt_logprobs === undefined
      ? {}
      : { topKPromptLogprobs: toTopK(topk_prompt_logprobs) }),
  }
  return sequences.map(({ tokens, logprobs, stop_reason }, index) => {
    if (logprobs === undefined ? tokens.length > 0 : logprobs.length !== tokens.length) {
      const message = `sample ${index} has ${logprobs?.length ?? 0} log-probabilities for ${tokens.length} tokens`
      throw new ServiceError('protocol', message, { requestId })
    }
    return { tokens, logprobs: Float64Array.from(logprobs ?? []), stopReason: stop_reason, ...shared }
  })
}

// SkyRL leaves out the first token, which nothing predicts; everybody else says NaN for it.
function alignedLogprobs(logprobs: Float32Array, promptLength: number, requestId: string): Float64Array {
  if (logprobs.length === promptLength) return Float64Array.from(logprobs)
  if (logprobs.length === promptLength - 1) return Float64Array.of(Number.NaN, ...logprobs)
  const message = `${logprobs.length} log-probabilities for a prompt of ${promptLength} tokens`
  throw new ServiceError('protocol', message, { requestId })
}

function toTopK({ k, tokens, logprobs }: tinker.TopK): TopKLogprobs {
  const isNone = (slot: number) => logprobs[slot] === tinker.noLogprob
  return {
    k,
    tokens: tokens.map((token, slot) => (isNone(slot) ? -1 : token)),
    logprobs: Float64Array.from(logprobs, (value) => (value === tinker.noLogprob ? Number.NaN : value)),
  }
}
