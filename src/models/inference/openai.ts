import * as z from 'zod'
import type { ToolCall } from '../../contracts/index.ts'
import { defineInferenceClient } from '../../kernel/index.ts'
import { openApiClient } from './open-api-client.ts'
import {
  address,
  apiKey,
  baseUrl,
  type ContentPart,
  contentParts,
  type LinkedMessage,
  type OmittedField,
  type ProviderAnswer,
  plainText,
  sharedClientParams,
  type WireFormat,
} from './wire-format.ts'

/** Models of OpenAI, by the Chat Completions API. */
export const openaiClient = defineInferenceClient({
  kind: 'openai',
  summary: 'Models of OpenAI, by the Chat Completions API.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: apiKey('OPENAI_API_KEY'),
    base_url: baseUrl('https://api.openai.com/v1'),
    organization: z.string().min(1).optional().describe('Organization that the calls are booked under.'),
  }),
  needs: { network: true },
  async open(context) {
    const { organization, model } = context.params
    return openApiClient(context, {
      kind: 'openai',
      provider: 'openai',
      wire: openaiWire('max_completion_tokens'),
      headers: organization === undefined ? undefined : { 'openai-organization': organization },
      omit: untaken(model),
    })
  },
})

// OpenAI has no top_k, and its reasoning models take neither a temperature nor stop sequences.
function untaken(model: string): OmittedField[] {
  const reasons = /^(o\d|gpt-[5-9])/.test(model) && !model.includes('chat')
  return reasons ? ['top_k', 'temperature', 'top_p', 'stop'] : ['top_k']
}

/** How the length of an answer is limited: OpenAI has renamed the field, others have not. */
const LengthField = z.enum(['max_tokens', 'max_completion_tokens'])

/** Any server that follows the Chat Completions API: `evsys serve`, vLLM, SGLang, llama.cpp, gateways. */
export const openaiCompatibleClient = defineInferenceClient({
  kind: 'openai_compatible',
  summary: 'Any server with the Chat Completions API: `evsys serve`, vLLM, SGLang, llama.cpp, gateways.',
  params: z.strictObject({
    ...sharedClientParams,
    api_key: z.string().min(1).optional().describe('The key, as a reference to a secret; absent: none is sent.'),
    base_url: address.describe('Address of the server, up to and with its version: http://127.0.0.1:8000/v1.'),
    length_field: LengthField.default('max_tokens').describe('Field that limits the length of an answer.'),
  }),
  needs: { network: true },
  async open(context) {
    return openApiClient(context, { kind: 'openai_compatible', wire: openaiWire(context.params.length_field) })
  },
})

// The Chat Completions API, of OpenAI and of the many servers that follow it.
const Call = z.looseObject({
  id: z.string().nullish(),
  function: z.looseObject({
    name: z.string().min(1),
    arguments: z.union([z.string(), z.record(z.string(), z.unknown())]),
  }),
})

const Choice = z.looseObject({
  message: z.looseObject({
    content: z.string().nullish(),
    refusal: z.string().nullish(),
    reasoning_content: z.string().nullish(),
    reasoning: z.string().nullish(),
    tool_calls: z.array(Call).nullish(),
  }),
  finish_reason: z.enum(['stop', 'length', 'tool_calls', 'function_call', 'content_filter']),
})

const Answer = z.looseObject({
  model: z.string().optional(),
  choices: z.tuple([Choice], Choice),
  usage: z.looseObject({
    prompt_tokens: z.int().min(0),
    completion_tokens: z.int().min(0),
    prompt_tokens_details: z.looseObject({ cached_tokens: z.int().min(0).nullish() }).nullish(),
  }),
})
type Answer = z.infer<typeof Answer>

function openaiWire(lengthField: z.infer<typeof LengthField>): WireFormat<typeof Answer> {
  return {
    path: () => '/chat/completions',
    headers: (key) => (key === undefined ? {} : { authorization: `Bearer ${key}` }),
    body({ messages, tools, stop, seed, maxTokens, temperature, topP, topK, model }) {
      const declared = tools?.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      }))
      const sampling = { [lengthField]: maxTokens, temperature, top_p: topP, top_k: topK, seed, stop }
      return { model, messages: messages.map(wireMessage), ...sampling, tools: declared }
    },
    answer: Answer,
    read,
  }
}

function wireMessage(message: LinkedMessage): Record<string, unknown> {
  const { role, content } = message
  switch (role) {
    case 'system':
      return { role, content: plainText(content, 'the system message') }
    case 'user':
      return { role, content: typeof content === 'string' ? content : contentParts(content).map(block) }
    case 'assistant': {
      const text = plainText(content, 'an assistant message')
      if (message.calls.length === 0) return { role, content: text }
      const calls = message.calls.map(({ id, name, args }) => ({
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      }))
      return { role, content: text === '' ? null : text, tool_calls: calls }
    }
    case 'tool':
      return { role, tool_call_id: message.id, content: plainText(content, 'the result of a tool') }
  }
}

function block(part: ContentPart): unknown {
  return part.type === 'text' ? part : { type: 'image_url', image_url: { url: part.url } }
}

function read({ choices, usage, model }: Answer): ProviderAnswer {
  const [{ message, finish_reason }] = choices
  const { content, refusal, tool_calls } = message
  const calls = (tool_calls ?? []).map(({ id, function: { name, arguments: args } }): ToolCall => {
    const call = { type: 'function' as const, function: { name, arguments: args } }
    return id == null ? call : { id, ...call }
  })
  const isRefusal = finish_reason === 'content_filter' || (refusal ?? '') !== ''
  const whole = calls.length > 0 ? 'tool_calls' : 'stop'
  return {
    text: content || refusal || '',
    reasoning: (message.reasoning ?? message.reasoning_content) || undefined,
    toolCalls: calls.length === 0 ? undefined : calls,
    stopReason: isRefusal ? 'refused' : finish_reason === 'length' ? 'length' : whole,
    model,
    counts: {
      prompt: usage.prompt_tokens,
      completion: usage.completion_tokens,
      cacheRead: usage.prompt_tokens_details?.cached_tokens ?? undefined,
    },
  }
}
