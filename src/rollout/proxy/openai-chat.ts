// OpenAI's chat completions, as servers see them: the request as a conversation, an answer as a completion or its stream.
import * as z from 'zod'
import { ChatMessage } from '../../contracts/index.ts'
import { ProxyFault } from './proxy-fault.ts'
import {
  eventStream,
  messageCalls,
  messageContent,
  type ProxyAnswer,
  type ProxyRequest,
  pieces,
} from './proxy-request.ts'

const Tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().min(1),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  }),
})

export const ChatBody = z.looseObject({
  model: z.string(),
  messages: z.array(z.preprocess(asOurs, ChatMessage)).min(1),
  tools: z.array(Tool).nullish(),
  tool_choice: z.unknown().optional(),
  n: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  logprobs: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
})
export type ChatBody = z.infer<typeof ChatBody>

export function chatRequest(body: ChatBody): ProxyRequest {
  if ((body.n ?? 1) > 1) throw new ProxyFault('unsupported', 'n: one answer is drawn for each request')
  return {
    model: body.model,
    messages: body.messages,
    tools: body.tool_choice === 'none' ? [] : (body.tools ?? []).map(({ function: tool }) => toolSpec(tool)),
    stop: body.stop == null ? [] : typeof body.stop === 'string' ? [body.stop] : body.stop,
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k != null && body.top_k > 0 ? body.top_k : undefined,
    seed: body.seed ?? undefined,
  }
}

export function chatResponse(answer: ProxyAnswer, body: ChatBody): Response {
  const frame = { id: `chatcmpl-${answer.id}`, created: answer.createdS, model: answer.model }
  const { generated, calls } = answer
  const finish = finishReasons[generated.stopReason]
  const tool_calls = messageCalls(calls)
  const usage = usageOf(answer)
  const exact = exactTokens(answer, body)
  if (body.stream !== true) {
    const content = messageContent(generated, calls)
    const message = { role: 'assistant', content, reasoning_content: generated.reasoning, tool_calls }
    const choice = { index: 0, message, finish_reason: finish, ...exact.choice }
    return Response.json({ ...frame, object: 'chat.completion', choices: [choice], usage, ...exact.response })
  }
  const chunk = (delta: object, rest: object = { finish_reason: null }) => ({
    data: { ...frame, object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...rest }] },
  })
  const hasUsage = body.stream_options?.include_usage === true
  return eventStream([
    chunk({ role: 'assistant', content: '' }),
    ...pieces(generated.reasoning ?? '').map((reasoning_content) => chunk({ reasoning_content })),
    ...pieces(generated.text).map((content) => chunk({ content })),
    ...(tool_calls ?? []).map((call, index) => chunk({ tool_calls: [{ index, ...call }] })),
    chunk({}, { finish_reason: finish, ...exact.choice }),
    ...(hasUsage ? [{ data: { ...frame, object: 'chat.completion.chunk', choices: [], usage } }] : []),
    { data: '[DONE]' },
  ])
}

export function toolSpec(tool: {
  name: string
  description?: string | null | undefined
  parameters?: Record<string, unknown> | null | undefined
}) {
  const { name, description, parameters } = tool
  return { name, description: description ?? undefined, parameters: parameters ?? { type: 'object', properties: {} } }
}

const finishReasons = { stop: 'stop', length: 'length', tool_calls: 'tool_calls', refused: 'content_filter' } as const

// As vLLM reports them: ids beside the answer, tokens of the log-probabilities by their ids.
function exactTokens({ generated: { tokens } }: ProxyAnswer, body: ChatBody): { choice: object; response: object } {
  const none = { choice: { logprobs: null }, response: {} }
  if (tokens === undefined) return none
  const ids = Array.from(tokens.completion)
  const content = ids.map((id, at) => ({
    token: `token_id:${id}`,
    logprob: tokens.logprobs[at] ?? null,
    bytes: null,
    top_logprobs: [],
  }))
  return {
    choice: {
      logprobs: body.logprobs === true ? { content } : null,
      token_ids: body.return_token_ids === true ? ids : undefined,
    },
    response: { prompt_token_ids: body.return_token_ids === true ? Array.from(tokens.prompt) : undefined },
  }
}

function usageOf({ generated: { usage } }: ProxyAnswer) {
  const { promptTokens: prompt_tokens, completionTokens: completion_tokens, cachedPromptTokens: cached_tokens } = usage
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    prompt_tokens_details: cached_tokens === undefined ? undefined : { cached_tokens },
  }
}

const known = ['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'reasoning_content']

// Clients send back refusals, annotations and nulls; `developer` is the newer word for `system`, `function` the older for `tool`.
function asOurs(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message
  const entries = Object.entries(message).filter(
    ([key, value]) =>
      known.includes(key) && value !== null && !(key === 'tool_calls' && Array.isArray(value) && value.length === 0),
  )
  const own: Record<string, unknown> = Object.fromEntries(entries)
  if (own.role === 'developer') own.role = 'system'
  if (own.role === 'function') own.role = 'tool'
  if (own.role === 'assistant' && own.content === undefined && own.tool_calls === undefined) own.content = ''
  if (own.role === 'tool' && own.content === undefined) own.content = ''
  return own
}
