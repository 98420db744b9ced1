// OpenAI's responses, as servers see them: items instead of messages, and events that build the same answer up.
import * as z from 'zod'
import type { ChatMessage, ToolCall } from '../../contracts/index.ts'
import { toolSpec } from './openai-chat.ts'
import { ProxyFault } from './proxy-fault.ts'
import { eventStream, type ProxyAnswer, type ProxyRequest, pieces, withOneSystem } from './proxy-request.ts'

const Part = z.looseObject({ type: z.string(), text: z.string().optional(), image_url: z.string().optional() })
const Item = z.looseObject({
  type: z.string().default('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']).optional(),
  content: z.union([z.string(), z.array(Part)]).nullish(),
  call_id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.string().optional(),
  output: z.unknown().optional(),
})
type Item = z.infer<typeof Item>

export const ResponsesBody = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(Item)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  tools: z
    .array(
      z.looseObject({
        type: z.string(),
        name: z.string().optional(),
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  stream: z.boolean().nullish(),
})
export type ResponsesBody = z.infer<typeof ResponsesBody>

/** `before`: the conversation of the response that the request continues. */
export function responsesRequest(body: ResponsesBody, before: readonly ChatMessage[]): ProxyRequest {
  const items =
    typeof body.input === 'string' ? [{ type: 'message', role: 'user' as const, content: body.input }] : body.input
  const tools = (body.tools ?? []).map(({ type, name, description, parameters }) => {
    if (type !== 'function' || name === undefined)
      throw new ProxyFault('unsupported', `tools: ${type} is run by OpenAI alone`)
    return toolSpec({ name, description, parameters })
  })
  const isFirst = body.instructions != null && body.instructions !== ''
  return {
    model: body.model,
    messages: withOneSystem([
      ...(isFirst ? [{ role: 'system' as const, content: body.instructions ?? '' }] : []),
      ...before.filter(({ role }) => !isFirst || role !== 'system'),
      ...messagesOf(items),
    ]),
    tools,
    stop: [],
    maxTokens: body.max_output_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
  }
}

export function responsesResponse(answer: ProxyAnswer, { stream }: ResponsesBody): Response {
  const { generated, calls, createdS, model, id } = answer
  const { promptTokens: input_tokens, completionTokens: output_tokens } = generated.usage
  const isCut = generated.stopReason === 'length'
  const reasoning = {
    id: `rs_${id}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: generated.reasoning ?? '' }],
  }
  const part = { type: 'output_text', text: generated.text, annotations: [] }
  const message = { id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant', content: [part] }
  const hasText = generated.text !== '' || calls.length === 0
  const output = [
    ...(generated.reasoning === undefined ? [] : [reasoning]),
    ...(hasText ? [message] : []),
    ...calls.map((call, number) => ({
      id: `fc_${id}_${number}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
    })),
  ]
  const frame = {
    id: responseId(answer),
    object: 'response',
    created_at: createdS,
    model,
    error: null,
    parallel_tool_calls: true,
  }
  const whole = {
    ...frame,
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output,
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  }
  if (stream !== true) return Response.json(whole)
  const events: { type: string; [key: string]: unknown }[] = [
    { type: 'response.created', response: { ...frame, status: 'in_progress', output: [] } },
  ]
  for (const [output_index, item] of output.entries()) {
    const place = { item_id: item.id, output_index }
    events.push({ type: 'response.output_item.added', output_index, item: { ...item, ...emptied(item.type) } })
    if (item === message) {
      const at = { ...place, content_index: 0 }
      events.push({ type: 'response.content_part.added', ...at, part: { ...part, text: '' } })
      for (const delta of pieces(generated.text)) events.push({ type: 'response.output_text.delta', ...at, delta })
      events.push({ type: 'response.output_text.done', ...at, text: generated.text })
      events.push({ type: 'response.content_part.done', ...at, part })
    }
    if ('arguments' in item) {
      events.push({ type: 'response.function_call_arguments.delta', ...place, delta: item.arguments })
      events.push({ type: 'response.function_call_arguments.done', ...place, arguments: item.arguments })
    }
    events.push({ type: 'response.output_item.done', output_index, item })
  }
  events.push({ type: isCut ? 'response.incomplete' : 'response.completed', response: whole })
  return eventStream(events.map((data, sequence_number) => ({ event: data.type, data: { ...data, sequence_number } })))
}

export function responseId({ id }: ProxyAnswer): string {
  return `resp_${id}`
}

function emptied(type: string): object {
  if (type === 'message') return { status: 'in_progress', content: [] }
  return type === 'function_call' ? { status: 'in_progress', arguments: '' } : {}
}

// Calls follow the message that makes them: together they are one message of ours.
function messagesOf(items: readonly Item[]): ChatMessage[] {
  const messages: ChatMessage[] = []
  for (const item of items) {
    const last = messages.at(-1)
    if (item.type === 'message') {
      const role = item.role === 'developer' ? 'system' : (item.role ?? 'user')
      messages.push({ role, content: textOf(item.content) })
    } else if (item.type === 'function_call') {
      const call: ToolCall = {
        id: item.call_id,
        type: 'function',
        function: { name: item.name ?? '', arguments: item.arguments ?? '{}' },
      }
      if (last?.role === 'assistant')
        messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] }
      else messages.push({ role: 'assistant', content: null, tool_calls: [call] })
    } else if (item.type === 'function_call_output') {
      const content = typeof item.output === 'string' ? item.output : JSON.stringify(item.output ?? '')
      messages.push({ role: 'tool', content, tool_call_id: item.call_id })
    } else if (item.type !== 'reasoning')
      throw new ProxyFault('unsupported', `input: items of type ${item.type} are not taken`)
  }
  if (messages.length === 0) throw new ProxyFault('malformed', 'input: there is no message')
  return messages
}

function textOf(content: Item['content']): string {
  if (content == null || typeof content === 'string') return content ?? ''
  return content
    .map(({ type, text }) => {
      if (text === undefined) throw new ProxyFault('unsupported', `input: content of type ${type} is not taken`)
      return text
    })
    .join('')
}
