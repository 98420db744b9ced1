import * as z from 'zod'
import type { ToolCall } from '../../contracts/index.ts'
import { defineInferenceClient } from '../../kernel/index.ts'
import { openApiClient } from './open-api-client.ts'
import {
  apiKey,
  baseUrl,
  type ContentPart,
  contentParts,
  type LinkedMessage,
  type OmittedField,
  type ProviderAnswer,
  sharedClientParams,
  splitSystem,
  turnsOf,
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
  async open(context) {
    const omit = untaken(context.params.model)
    return openApiClient(context, { kind: 'anthropic', provider: 'anthropic', wire: anthropicWire, omit })
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
  headers: (key): Record<string, string> => ({
    'anthropic-version': '2023-06-01',
    ...(key !== undefined && { 'x-api-key': key }),
  }),
  body({ messages, tools, stop, maxTokens, temperature, topP, topK, model }) {
    const { system, rest } = splitSystem(messages, 'Claude')
    return {
      model,
      max_tokens: maxTokens,
      system: system.length === 0 ? undefined : system.join('\n\n'),
      messages: turnsOf(rest, blocks).map(({ isAnswer, parts }) => ({
        role: isAnswer ? 'assistant' : 'user',
        content: parts,
      })),
      temperature,
      top_p: topP,
      top_k: topK,
      stop_sequences: stop,
      tools: tools?.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    }
  },
  answer: Answer,
  read,
}

function blocks(message: LinkedMessage): unknown[] {
  const parts = contentParts(message.content).map(block)
  if (message.role === 'tool') return [{ type: 'tool_result', tool_use_id: message.id, content: parts }]
  if (message.role !== 'assistant') return parts
  return [...parts, ...message.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))]
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
  const toolCalls = content
    .filter((each) => each.type === 'tool_use')
    .map(({ id, name, input }): ToolCall => ({ id, type: 'function', function: { name, arguments: input } }))
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  return {
    text: content.map((each) => (each.type === 'text' ? each.text : '')).join(''),
    reasoning: content.map((each) => (each.type === 'thinking' ? each.thinking : '')).join('') || undefined,
    toolCalls: toolCalls.length === 0 ? undefined : toolCalls,
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
