// A conversation in exact tokens, for clients whose weights are sampled here: history is never made into tokens again.
import type { OpenInferenceClient, OpenRenderer } from '../../contracts/index.ts'
import { createTokenPolicy } from '../policy/token-policy.ts'

/**
 * The client, for one trial: answers stand in later prompts as the tokens that they were drawn as, and only new messages are
 * rendered. A client that does not tell its sampler is returned as it is: its turns hold messages alone, or tokens of its own.
 */
export function withTokenSession(client: OpenInferenceClient): OpenInferenceClient {
  const { sampler } = client
  if (sampler === undefined) return client
  const { model, price } = sampler
  const versions = new WeakMap<Int32Array, number>()
  const session = createTokenPolicy({
    model,
    renderer: splitting(sampler.renderer),
    version: () => 0, // told by the sampler with each answer
    async sample(request, signal) {
      const drawn = await sampler.sample(request, signal)
      versions.set(drawn.tokens, drawn.policyVersion)
      return [drawn]
    },
  })
  return {
    ...(session.takesTools === undefined ? {} : { takesTools: session.takesTools }),
    async generate(request, signal) {
      const given = await session.generate(request, signal)
      const { tokens, usage } = given
      const policyVersion = tokens === undefined ? undefined : versions.get(tokens.completion)
      return {
        ...given,
        usage: price === undefined ? usage : { ...usage, costUsd: costUsd(usage, price) },
        ...(price === undefined ? {} : { price }),
        ...(tokens === undefined || policyVersion === undefined ? {} : { tokens: { ...tokens, policyVersion } }),
      }
    },
  }
}

// A template that cannot be split into messages is rendered whole at each turn, which begins a new sequence.
function splitting(renderer: OpenRenderer): OpenRenderer {
  return {
    ...renderer,
    conversation(messages) {
      try {
        return renderer.conversation(messages)
      } catch {
        return { tokens: new Int32Array(), message: new Int32Array(), produced: new Uint8Array() }
      }
    },
  }
}

function costUsd(
  usage: { promptTokens: number; completionTokens: number },
  price: { input: number; output: number },
): number {
  return (usage.promptTokens * price.input + usage.completionTokens * price.output) / 1_000_000
}
