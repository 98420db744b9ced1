// What weights think of given tokens: the log-probability of each, or the likeliest tokens in its place.
import type { StepContext, TopKLogprobs, Weights } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'

type Service = Pick<StepContext<unknown>, 'service'>

// A service scores a prompt while it samples; one token is the least that it draws.
const asked = { numSamples: 1, maxTokens: 1, temperature: 0, seed: 0 }

/** Per token; NaN for the first, which nothing predicts. */
export async function tokenLogprobs({ service }: Service, model: Weights, prompt: Int32Array): Promise<Float64Array> {
  const [sample] = await service.sample({ model, prompt, ...asked, promptLogprobs: true })
  return sample?.promptLogprobs ?? missing('prompt_logprobs')
}

/** The `k` likeliest tokens in the place of each token. */
export async function likeliestInPlace(
  { service }: Service,
  model: Weights,
  prompt: Int32Array,
  k: number,
): Promise<TopKLogprobs> {
  const [sample] = await service.sample({ model, prompt, ...asked, topKPromptLogprobs: k })
  return sample?.topKPromptLogprobs ?? missing('topk_prompt_logprobs')
}

function missing(field: string): never {
  throw new EvsysError('BACKEND_FAILED', 'the service gives no log-probabilities of a prompt', {
    fix: `use a service with ${field}, such as the backend local.`,
  })
}
