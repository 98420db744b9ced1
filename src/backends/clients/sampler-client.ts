// A model whose samples are drawn by a training service, as a client: the conversation becomes tokens here, and tokens a message.
import type {
  Generated,
  GenerateRequest,
  OpenInferenceClient,
  OpenRenderer,
  Tokenizer,
  TokenPrice,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import type { Sampler } from '../../tinker/index.ts'
import { byteTokenizer, openPlainChat } from '../models/mock-models.ts'

export interface SamplerClientOptions {
  /** Name that the answers carry. */
  readonly model: string
  readonly sampler: Pick<Sampler, 'sample'>
  readonly renderer: OpenRenderer
  readonly systemPrompt: string | undefined
  /** Absent: what a token costs is not known. */
  readonly price: TokenPrice | undefined
  close(): Promise<void>
}

export function openSamplerClient(options: SamplerClientOptions): OpenInferenceClient {
  const { model, sampler, renderer, systemPrompt, price } = options
  return {
    takesTools: renderer.takesTools === true,
    sampler: {
      model,
      price,
      renderer: {
        ...renderer,
        prompt: (messages, tools) => renderer.prompt(withSystem(systemPrompt, { messages }), tools),
        conversation(messages) {
          const all = withSystem(systemPrompt, { messages })
          const added = all.length - messages.length
          const rendered = renderer.conversation(all)
          return { ...rendered, message: rendered.message.map((index) => Math.max(-1, index - added)) }
        },
      },
      async sample({ prompt, ...request }, signal) {
        const [sample] = await sampler.sample(drawOf(request, prompt, renderer), { signal })
        if (sample === undefined) throw new EvsysError('INFERENCE_FAILED', `${model}: the service drew no sample`)
        return { ...sample, policyVersion: 0 }
      },
    },
    async generate(request, signal): Promise<Generated> {
      const { tools = [] } = request
      if (tools.length > 0 && renderer.takesTools !== true) {
        throw new EvsysError('INFERENCE_REFUSED', `${model}: its renderer cannot declare tools`, {
          fix: 'choose a renderer that can, or describe the tools in the system message.',
        })
      }
      const prompt = renderer.prompt(withSystem(systemPrompt, request), tools)
      const startedMs = performance.now()
      const [sample] = await sampler.sample(drawOf(request, prompt, renderer), { signal })
      if (sample === undefined) throw new EvsysError('INFERENCE_FAILED', `${model}: the service drew no sample`)
      const { message, complete } = renderer.parse(sample.tokens)
      const whole = typeof message.content === 'string' ? message.content : ''
      const text = cutAt(whole, request.stop ?? [])
      const isCut = text.length < whole.length
      const calls = isCut ? undefined : message.tool_calls
      const counts = { promptTokens: prompt.length, completionTokens: sample.tokens.length }
      return {
        text,
        reasoning: message.reasoning_content,
        toolCalls: calls,
        stopReason:
          calls !== undefined ? 'tool_calls' : complete || isCut || sample.stopReason === 'stop' ? 'stop' : 'length',
        model,
        usage: {
          ...counts,
          latencyS: (performance.now() - startedMs) / 1000,
          ...(price === undefined ? {} : { costUsd: costUsd(counts, price) }),
        },
        price,
        tokens: { prompt, completion: sample.tokens, logprobs: sample.logprobs, policyVersion: 0 },
      }
    },
    [Symbol.asyncDispose]: () => options.close(),
  }
}

// A service stops at tokens or at texts, not at both: the texts of a caller are cut off afterwards.
function drawOf(
  { maxTokens, temperature, topP, topK, seed }: Omit<GenerateRequest, 'messages'>,
  prompt: Int32Array,
  { stop }: OpenRenderer,
) {
  return {
    prompt,
    numSamples: 1,
    maxTokens,
    temperature,
    topP,
    topK,
    seed,
    stop,
  }
}

function withSystem(prompt: string | undefined, { messages }: Pick<GenerateRequest, 'messages'>) {
  if (prompt === undefined) return messages
  const [first, ...rest] = messages
  if (first?.role !== 'system' || typeof first.content !== 'string') {
    return [{ role: 'system' as const, content: prompt }, ...messages]
  }
  return [{ ...first, content: `${prompt}\n\n${first.content}` }, ...rest]
}

function cutAt(text: string, stops: readonly string[]): string {
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
  return places.length === 0 ? text : text.slice(0, Math.min(...places))
}

function costUsd(counts: { promptTokens: number; completionTokens: number }, { input, output }: TokenPrice): number {
  return (counts.promptTokens * input + counts.completionTokens * output) / 1_000_000
}

/** The renderer that is named, or the one that the model brings along. */
export async function openModelRenderer(
  name: string | undefined,
  text: { readonly tokenizer: Tokenizer; readonly chatTemplate?: string | undefined },
): Promise<OpenRenderer> {
  if (text.tokenizer === byteTokenizer && (name === undefined || name === 'plain_chat'))
    return openPlainChat(text.tokenizer)
  const { openNamedRenderer } = await import('../../models/index.ts')
  if (name !== undefined) return openNamedRenderer(name, text)
  if (text.chatTemplate !== undefined) return openNamedRenderer('chat_template', text)
  throw new EvsysError('MODEL_INVALID', 'the model has no chat template', {
    fix: 'name a renderer in the params of the client.',
  })
}
