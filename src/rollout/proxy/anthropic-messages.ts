// Anthropic's messages, as servers see them. The system prompt stands apart, results of tools are said by the user.
import * as z from 'zod'
import type { ChatMessage, ToolCall } from '../../contracts/index.ts'
import { toolSpec } from './openai-chat.ts'
import { ProxyFault } from './proxy-fault.ts'
import {
  argumentsObject,
  eventStream,
  type ProxyAnswer,
  type ProxyRequest,
  pieces,
  withOneSystem,
} from './proxy-request.ts'

const Text = z.looseObject({ type: z.literal('text'), text: z.string() })
const Image = z.looseObject({
  type: z.literal('image'),
  source: z.union([
    z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
    z.looseObject({ type: z.literal('url'), url: z.string() }),
  ]),
})
const Result = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(z.union([Text, Image]))]).optional(),
})
const Block = z.union([
  Text,
  Image,
  Result,
  z.looseObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string().min(1),
    input: z.record(z.string(), z.unknown()),
  }),
  z.looseObject({ type: z.literal('thinking'), thinking: z.string() }),
  z.looseObject({ type: z.literal('redacted_thinking') }),
])
type Block = z.infer<typeof Block>

export const CountBody = z.looseObject({
  model: z.string(),
  messages: z
    .array(
      z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: z.union([z.string(), z.array(Block)]) }),
    )
    .min(1),
  system: z.union([z.string(), z.array(Text)]).optional(),
  tools: z
    .array(
      z.looseObject({
        name: z.string().min(1),
        description: z.string().optional(),
        input_schema: z.record(z.string(), z.unknown()).optional(),
      }),
    )
    .optional(),
  tool_choice: z.looseObject({ type: z.string() }).optional(),
})

export const MessagesBody = CountBody.extend({
  max_tokens: z.int().min(1),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(1).nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  stream: z.boolean().nullish(),
})
export type MessagesBody = z.infer<typeof MessagesBody>

export function messagesRequest(body: z.infer<typeof CountBody> & Partial<MessagesBody>): ProxyRequest {
  const tools = (body.tools ?? []).map(({ name, description, input_schema }) => {
    if (input_schema === undefined) throw new ProxyFault('unsupported', `tools: ${name} is run by Anthropic alone`)
    return toolSpec({ name, description, parameters: input_schema })
  })
  const system =
    typeof body.system === 'string' ? body.system : (body.system ?? []).map(({ text }) => text).join('\n\n')
  return {
    model: body.model,
    messages: withOneSystem([
      ...(system === '' ? [] : [{ role: 'system' as const, content: system }]),
      ...body.messages.flatMap(({ role, content }) =>
        messagesOf(role, typeof content === 'string' ? [{ type: 'text', text: content }] : content),
      ),
    ]),
    tools: body.tool_choice?.type === 'none' ? [] : tools,
    stop: body.stop_sequences ?? [],
    maxTokens: body.max_tokens,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
  }
}

export function messagesResponse(answer: ProxyAnswer, { stream }: MessagesBody): Response {
  const { generated, calls, model } = answer
  const { promptTokens, completionTokens, cachedPromptTokens = 0 } = generated.usage
  const usage = { input_tokens: promptTokens - cachedPromptTokens, cache_read_input_tokens: cachedPromptTokens }
  const blocks = [
    ...(generated.reasoning === undefined
      ? []
      : [{ type: 'thinking' as const, thinking: generated.reasoning, signature: '' }]),
    ...(generated.text === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text: generated.text }]),
    ...calls.map(({ id, name, arguments: args }) => ({
      type: 'tool_use' as const,
      id,
      name,
      input: argumentsObject(args),
    })),
  ]
  const stopReason = stopReasons[generated.stopReason]
  const frame = { id: `msg_${answer.id}`, type: 'message', role: 'assistant', model }
  if (stream !== true) {
    return Response.json({
      ...frame,
      content: blocks,
      stop_reason: stopReason,
      stop_sequence: null,
      usage: { ...usage, output_tokens: completionTokens },
    })
  }
  const event = (type: string, rest: object = {}) => ({ event: type, data: { type, ...rest } })
  const start = { ...frame, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 0 } }
  return eventStream([
    event('message_start', { message: start }),
    event('ping'),
    ...blocks.flatMap((block, index) => [
      event('content_block_start', { index, content_block: emptied(block) }),
      ...deltas(block).map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: completionTokens },
    }),
    event('message_stop'),
  ])
}

const stopReasons = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', refused: 'refusal' } as const

type AnswerBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Record<string, unknown> }

function emptied(block: AnswerBlock): AnswerBlock {
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'thinking' ? { ...block, thinking: '' } : { ...block, input: {} }
}

function deltas(block: AnswerBlock): object[] {
  if (block.type === 'text') return pieces(block.text).map((text) => ({ type: 'text_delta', text }))
  if (block.type === 'thinking') return pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking }))
  return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
}

function messagesOf(role: 'user' | 'assistant' | 'system', blocks: readonly Block[]): ChatMessage[] {
  if (role === 'assistant') return [assistantMessage(blocks)]
  const results = blocks.flatMap((block): ChatMessage[] => {
    if (block.type !== 'tool_result') return []
    const { content = [], tool_use_id } = block
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content
    return [{ role: 'tool', content: contentOf(parts), tool_call_id: tool_use_id }]
  })
  const rest = blocks.filter((block) => block.type === 'text' || block.type === 'image')
  return rest.length === 0 ? results : [...results, { role, content: contentOf(rest) }]
}

function assistantMessage(blocks: readonly Block[]): ChatMessage {
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('')
  const reasoning = blocks.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join('')
  const calls = blocks.flatMap((block): ToolCall[] =>
    block.type === 'tool_use'
      ? [{ id: block.id, type: 'function', function: { name: block.name, arguments: block.input } }]
      : [],
  )
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    reasoning_content: reasoning === '' ? undefined : reasoning,
    tool_calls: calls.length === 0 ? undefined : calls,
  }
}

function contentOf(blocks: readonly (z.infer<typeof Text> | z.infer<typeof Image>)[]): ChatMessage['content'] {
  if (blocks.every((block) => block.type === 'text')) return blocks.map((block) => block.text).join('')
  return blocks.map((block) => {
    if (block.type === 'text') return { type: 'text' as const, text: block.text }
    const { source } = block
    const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`
    return { type: 'image_url' as const, image_url: { url } }
  })
}
