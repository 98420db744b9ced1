// A policy that is asked in messages and answers with the exact tokens: prompt, completion, log-probabilities. History is never
// made into tokens again: what was drawn stays as it was drawn, and only what is new after it is rendered.
import type {
  ChatMessage,
  Generated,
  GenerateRequest,
  OpenInferenceClient,
  OpenRenderer,
  Sample,
  SampleReq,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { LimitReached } from './limit-reached.ts'
import { type KnownHistory, promptAfter } from './prompt-after.ts'

interface TokenPolicyOptions {
  readonly renderer: OpenRenderer
  /** Draws from the weights of this policy. */
  sample(request: Omit<SampleReq, 'model'>, signal: AbortSignal): Promise<readonly Sample[]>
  /** Optimiser steps that the weights have seen. */
  version(): number
  /** Longest sequence the model takes; absent: the service reports it. */
  readonly maxContext?: number | undefined
  /** Name that the answers carry. */
  readonly model?: string | undefined
}

/** A policy for one rollout: it remembers the conversations that it took part in. */
export function createTokenPolicy(options: TokenPolicyOptions): OpenInferenceClient {
  const { renderer, version, model, maxContext = Number.POSITIVE_INFINITY } = options
  const known: KnownHistory[] = []
  return {
    takesTools: renderer.takesTools === true,
    async generate(request, signal): Promise<Generated> {
      const { tools = [], stop = [] } = request
      if (tools.length > 0 && renderer.takesTools !== true) throw noTools(model)
      const startedMs = performance.now()
      const prompt = promptAfter(known, request.messages, renderer, tools)
      const room = maxContext - prompt.length
      if (room <= 0) throw new LimitReached('context')
      const policyVersion = version()
      const [drawn] = await options.sample(drawOf(request, prompt, renderer, room), signal)
      if (drawn === undefined) throw new EvsysError('BACKEND_FAILED', 'the service drew no answer')
      const { message } = renderer.parse(drawn.tokens)
      const whole = typeof message.content === 'string' ? message.content : ''
      const text = cutAt(whole, stop)
      const isCut = text.length < whole.length
      const calls = isCut ? undefined : message.tool_calls
      // What was cut off stands in the tokens and not in the conversation: they cannot be a part of it.
      if (!isCut) known.push(historyOf(request.messages, message, prompt, drawn))
      return {
        text,
        reasoning: message.reasoning_content,
        toolCalls: calls,
        stopReason: calls !== undefined ? 'tool_calls' : isCut ? 'stop' : drawn.stopReason,
        model,
        usage: {
          promptTokens: prompt.length,
          completionTokens: drawn.tokens.length,
          latencyS: (performance.now() - startedMs) / 1000,
        },
        tokens: { prompt, completion: drawn.tokens, logprobs: drawn.logprobs, policyVersion },
      }
    },
  }
}

// A service stops at tokens or at texts, not at both: the texts of a caller are cut off afterwards.
function drawOf(
  { maxTokens, temperature, topP, topK, seed }: GenerateRequest,
  prompt: Int32Array,
  { stop }: OpenRenderer,
  room: number,
): Omit<SampleReq, 'model'> {
  return {
    prompt,
    numSamples: 1,
    maxTokens: Math.min(maxTokens, room),
    temperature,
    topP,
    topK,
    stop,
    seed,
  }
}

function historyOf(
  asked: readonly ChatMessage[],
  answer: ChatMessage,
  prompt: Int32Array,
  { tokens: completion, stopReason }: Sample,
): KnownHistory {
  const tokens = new Int32Array(prompt.length + completion.length)
  tokens.set(prompt)
  tokens.set(completion, prompt.length)
  return { messages: [...asked, answer], tokens, ended: stopReason === 'stop' }
}

function cutAt(text: string, stops: readonly string[]): string {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
  return places.length === 0 ? text : text.slice(0, Math.min(...places))
}

function noTools(model = 'the policy'): EvsysError {
  return new EvsysError('INFERENCE_REFUSED', `${model}: its renderer cannot declare tools`, {
    fix: 'choose a renderer that can, or describe the tools in the system message.',
  })
}

// A conversation in exact tokens, for clients whose weights are sampled here: history is never made into tokens again.

/**
 * The client, for one trial: answers stand in later prompts as the tokens that they were drawn as, and only new messages are
 * rendered. A client without a sampler is returned as it is: its turns hold messages alone, or its own tokens.
 */
export function withTokenSession(client: OpenInferenceClient): OpenInferenceClient {
  const { sampler } = client
  if (sampler === undefined) return client
  const { model, price } = sampler
  const versions = new WeakMap<Int32Array, number>()
  const session = createTokenPolicy({
    model,
    renderer: splitting(sampler.renderer),
    version: () => 0, // reported by the sampler with each answer
    async sample(request, signal) {
      const drawn = await sampler.sample(request, signal)
      versions.set(drawn.tokens, drawn.policyVersion)
      return [drawn]
    },
  })
  return {
    takesTools: session.takesTools,
    async generate(request, signal) {
      const given = await session.generate(request, signal)
      const { tokens, usage } = given
      const policyVersion = tokens === undefined ? undefined : versions.get(tokens.completion)
      return {
        ...given,
        usage: price === undefined ? usage : { ...usage, costUsd: costUsd(usage, price) },
        price: price ?? given.price,
        tokens: tokens === undefined || policyVersion === undefined ? tokens : { ...tokens, policyVersion },
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
