// A client of any provider with a wire format: builds, calls, reads, prices.
import type * as z from 'zod'
import type { ChatMessage, Context, Generated, GenerateRequest, OpenInferenceClient } from '../../contracts/index.ts'
import { withoutUndefined } from '../../kernel/index.ts'
import { callProvider } from './call-provider.ts'
import { costOf, findPrice } from './prices.ts'
import {
  type ClientParams,
  linkToolCalls,
  type OmittedField,
  type WireFormat,
  type WireRequest,
} from './wire-format.ts'

export interface ApiClientOptions<S extends z.ZodType> {
  /** Kind of the client, for messages. */
  readonly kind: string
  readonly wire: WireFormat<S>
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Whose prices count; absent: the model has no price but the one in the params. */
  readonly provider?: string | undefined
  /** Fields that the model is known not to take. */
  readonly omit?: readonly OmittedField[] | undefined
}

type ApiContext = Pick<Context<ClientParams>, 'params' | 'random' | 'log'>

/** Opens a client. What goes wrong is `INFERENCE_FAILED`, `INFERENCE_REFUSED` or `DATA_INVALID`. */
export function openApiClient<S extends z.ZodType>(
  { params, random, log }: ApiContext,
  options: ApiClientOptions<S>,
): OpenInferenceClient {
  const { kind, wire, provider } = options
  const { model, system_prompt, timeout_s, max_attempts, retry_wait_s, extra_headers, extra_body } = params
  const who = `${kind} ${model}`
  const url = `${params.base_url.replace(/\/+$/, '')}${wire.path(model)}`
  const omit = new Set([...params.omit, ...(options.omit ?? [])])
  const headers = { 'user-agent': 'evsys', ...wire.headers(params.api_key), ...options.headers, ...extra_headers }
  const warn = warnOnce(log)
  return {
    async generate(request, signal): Promise<Generated> {
      const messages = withSystem(system_prompt, request.messages)
      for (const field of unsent(request, options.omit ?? [])) {
        warn(`${who} takes no ${field}: it is not sent`)
      }
      const call = {
        who,
        url,
        headers,
        body: { ...wire.body(sentRequest(request, messages, model, omit)), ...extra_body },
        answer: wire.answer,
        timeoutMs: timeout_s * 1000,
        attempts: max_attempts,
        waitMs: retry_wait_s * 1000,
        random: random('inference', kind, model),
        log,
      }
      const { answer, latencyS } = await callProvider(call, signal)
      const { counts, model: answered, ...generated } = wire.read(answer)
      const price = params.price ?? findPrice(provider, counts.prompt, answered, model)
      if (price === undefined) warn(`no price is known for ${who}: what it costs is unknown. Set its param \`price\`.`)
      const usage = withoutUndefined({
        promptTokens: counts.prompt,
        completionTokens: counts.completion,
        latencyS,
        cachedPromptTokens: counts.cacheRead,
        costUsd: price === undefined ? undefined : costOf(counts, price),
      })
      return withoutUndefined({ ...generated, model: answered ?? model, usage, price })
    },
  }
}

function sentRequest(
  { tools, stop, seed, maxTokens, temperature, topP, topK }: GenerateRequest,
  messages: readonly ChatMessage[],
  model: string,
  omit: ReadonlySet<OmittedField>,
): WireRequest {
  const unlessOmitted = <T>(field: OmittedField, value: T) => (omit.has(field) ? undefined : value)
  return {
    model,
    messages: linkToolCalls(messages),
    maxTokens,
    temperature: unlessOmitted('temperature', temperature),
    topP: unlessOmitted('top_p', topP),
    topK: unlessOmitted('top_k', topK),
    seed: unlessOmitted('seed', seed % 2 ** 31), // some servers take 32 bits with a sign
    stop: stop?.length === 0 ? undefined : unlessOmitted('stop', stop),
    tools: tools?.length === 0 ? undefined : tools,
  }
}

/** A system message of the client stands before that of the conversation, in one message. */
function withSystem(prompt: string | undefined, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (prompt === undefined) return messages
  const [first, ...rest] = messages
  if (first?.role !== 'system' || typeof first.content !== 'string')
    return [{ role: 'system', content: prompt }, ...messages]
  return [{ ...first, content: `${prompt}\n\n${first.content}` }, ...rest]
}

// Greedy answers and the seed are wishes of the caller; that they are not sent is worth a warning.
function unsent(request: GenerateRequest, omitted: readonly OmittedField[]): OmittedField[] {
  const asked = {
    temperature: true,
    top_p: request.topP !== undefined,
    top_k: request.topK !== undefined,
    seed: false,
    stop: request.stop !== undefined,
  }
  return omitted.filter((field) => asked[field])
}

function warnOnce(log: ApiContext['log']): (text: string) => void {
  const logged = new Set<string>()
  return (text) => {
    if (logged.has(text)) return
    logged.add(text)
    log('warn', text)
  }
}
