// What the reference thinks of the tokens that were drawn.
import type { StepContext, Weights } from '../../contracts/index.ts'
import { EvsysError, mapConcurrent } from '../../kernel/index.ts'
import type { PolicySequence } from './policy-sequences.ts'

export interface ReferenceOptions extends Pick<StepContext<unknown>, 'service' | 'signal'> {
  readonly reference: Weights
  /** Requests at a time. */
  readonly limit: number
}

/** For each sequence the log-probabilities of its tokens, as long as they are; 0 where nothing is trained on. */
export async function referenceLogprobs(
  sequences: readonly PolicySequence[],
  { reference, service, limit, signal }: ReferenceOptions,
): Promise<Float64Array[]> {
  return await mapConcurrent(sequences, { limit, signal }, async ({ tokens, mask }) => {
    const asked = { numSamples: 1, maxTokens: 1, temperature: 0, seed: 0, promptLogprobs: true }
    const [sample] = await service.sample({ model: reference, prompt: tokens, ...asked })
    const logprobs = sample?.promptLogprobs
    if (logprobs === undefined) {
      throw new EvsysError('BACKEND_FAILED', 'rl: the service gives no log-probabilities of a prompt', {
        fix: 'use a service with prompt_logprobs, such as the backend local, or set kl_coef to 0.',
      })
    }
    return Float64Array.from(mask, (trained, t) => (trained === 0 ? 0 : (logprobs[t] ?? 0)))
  })
}
