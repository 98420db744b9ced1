import * as z from 'zod'
import type { ToolCall } from '../../contracts/index.ts'
import { defineInferenceClient, EvsysError } from '../../kernel/index.ts'
import { openApiClient } from './open-api-client.ts'
import {
  apiKey,
  baseUrl,
  type ContentPart,
  contentParts,
  type LinkedMessage,
  linkToolCalls,
  type OmittedField,
  type ProviderAnswer,
  plainText,
  sharedClientParams,
  type WireFormat,
} from './wire-format.ts'

/** Claude models, by the Messages API. */
export const anthropicClient = defineInferenceClient({
  kind: 'anthropic',
  summary: 'Claude models of Anthropic, by the Messages API.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: apiKey('ANTHROPIC_API_KEY'),
    base_url: baseUrl('https://api.anthropic.com'),
  }),
  needs: { network: true },
  async open({ params, random, log }) {
    const options = { kind: 'anthropic', provider: 'anthropic', wire: anthropicWire, omit: untaken(params.model) }
    return openApiClient({ params, random, log }, { ...options, baseUrl: params.base_url, key: params.api_key })
  },
})

// From 4.7 on they refuse a request that says how answers are drawn.
function untaken(model: string): OmittedField[] {
  const [, major = '0', minor = '0'] = /claude-[a-z]+-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(model) ?? []
  const version = Number(major) + Number(minor) / 100
  return version >= 4.07 ? ['temperature', 'top_p', 'top_k'] : []
}

// Anthropic's Messages API, version 2023-06-01. The system message stands apart; results of tools are said by the user.
const Block = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking') }),
  z.looseObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()),
  }),
])

const Answer = z.looseObject({
  model: z.string().optional(),
  content: z.array(Block),
  stop_reason: z.enum([
    'end_turn',
    'stop_sequence',
    'max_tokens',
    'model_context_window_exceeded',
    'tool_use',
    'refusal',
    'pause_turn',
  ]),
  usage: z.looseObject({
    input_tokens: z.int().min(0),
    output_tokens: z.int().min(0),
    cache_read_input_tokens: z.int().min(0).nullish(),
    cache_creation_input_tokens: z.int().min(0).nullish(),
  }),
})
type Answer = z.infer<typeof Answer>

const anthropicWire: WireFormat<typeof Answer> = {
  path: () => '/v1/messages',
  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key === undefined ? {} : { 'x-api-key': key }) }),
  body({ messages, tools, stop, maxTokens, temperature, topP, topK }, { model, omit }) {
    const linked = linkToolCalls(messages)
    const begin = linked.findIndex(({ role }) => role !== 'system')
    const rest = begin === -1 ? [] : linked.slice(begin)
    const system = linked
      .slice(0, linked.length - rest.length)
      .map(({ content }) => plainText(content, 'the system message'))
    return {
      model,
      max_tokens: maxTokens,
      ...(system.length === 0 ? {} : { system: system.join('\n\n') }),
      messages: turns(rest),
      ...(omit.has('temperature') ? {} : { temperature }),
      ...(topP === undefined || omit.has('top_p') ? {} : { top_p: topP }),
      ...(topK === undefined || omit.has('top_k') ? {} : { top_k: topK }),
      ...(stop === undefined || stop.length === 0 || omit.has('stop') ? {} : { stop_sequences: stop }),
      ...(tools === undefined || tools.length === 0
        ? {}
        : {
            tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
          }),
    }
  },
  answer: Answer,
  read,
}

type Turn = { role: 'user' | 'assistant'; content: unknown[] }

function turns(messages: readonly LinkedMessage[]): Turn[] {
  const list: Turn[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = blocks(message)
    const last = list.at(-1)
    if (content.length === 0) continue // the API takes no empty message
    if (last?.role === role) last.content.push(...content)
    else list.push({ role, content })
  }
  return list
}

function blocks(message: LinkedMessage): unknown[] {
  const parts = contentParts(message.content).map(block)
  switch (message.role) {
    case 'system':
      throw new EvsysError('DATA_INVALID', 'a system message stands after the beginning of the conversation', {
        fix: 'Claude models take system messages at the beginning only.',
      })
    case 'user':
      return parts
    case 'assistant':
      return [...parts, ...message.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))]
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: message.id, content: parts }]
  }
}

function block(part: ContentPart): unknown {
  if (part.type === 'text') return part
  if (part.data === undefined) return { type: 'image', source: { type: 'url', url: part.url } }
  return { type: 'image', source: { type: 'base64', media_type: part.data.mime, data: part.data.base64 } }
}

const stopReasons = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'refused',
} as const satisfies Record<Answer['stop_reason'], ProviderAnswer['stopReason']>

function read({ content, stop_reason, usage, model }: Answer): ProviderAnswer {
  const text = content.flatMap((each) => (each.type === 'text' ? [each.text] : [])).join('')
  const reasoning = content.flatMap((each) => (each.type === 'thinking' ? [each.thinking] : [])).join('')
  const toolCalls = content.flatMap((each): ToolCall[] =>
    each.type === 'tool_use'
      ? [{ id: each.id, type: 'function', function: { name: each.name, arguments: each.input } }]
      : [],
  )
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  return {
    text,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    stopReason: stopReasons[stop_reason],
    model,
    counts: {
      prompt: usage.input_tokens + cacheRead + cacheWrite,
      completion: usage.output_tokens,
      cacheRead,
      cacheWrite,
    },
  }
}
