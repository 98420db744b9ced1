// Messages as parts of ATIF steps, and back.
import type { AtifContent, AtifStep, ChatMessage, ToolCall } from '../../contracts/index.ts'

/** A step without its number. */
export type NewStep = Omit<AtifStep, 'step_id'>

/** A message that no turn drew: of the system, the user, or words put into the agent's mouth. */
export function messageStep(message: ChatMessage): NewStep {
  const { role, content } = message
  if (role === 'assistant') return { ...saidStep(message), llm_call_count: 0 }
  // The result of a tool with no step before it: a conversation that begins in the middle.
  if (role === 'tool')
    return { source: 'system', message: '', observation: { results: [{ content: contentOf(content) }] } }
  return {
    source: role,
    message: contentOf(content),
    ...(message.name === undefined ? {} : { extra: { name: message.name } }),
  }
}

/** The same, carried over from a history that was rewritten. */
export function copiedStep(message: ChatMessage): NewStep {
  return { ...messageStep(message), is_copied_context: true }
}

/** The observation of a step, with the result of one more of its calls. */
export function observation(
  { observation: before, tool_calls = [] }: NewStep,
  message: ChatMessage,
): NewStep['observation'] {
  const results = before?.results ?? []
  const answered = new Set(results.map(({ source_call_id }) => source_call_id))
  const open = tool_calls.filter(({ tool_call_id }) => !answered.has(tool_call_id))
  // Results without a known id answer the open calls in order.
  const call =
    open.find(({ tool_call_id, extra }) => [tool_call_id, extra?.id].includes(message.tool_call_id)) ?? open[0]
  const own = {
    ...(call === undefined ? {} : { source_call_id: call.tool_call_id }),
    content: contentOf(message.content),
  }
  return { ...before, results: [...results, own] }
}

/** Calls with ids: one's own, or `call_<turn>_<number>`; ids that repeat within the step are numbered as well. */
export function toolCalls(calls: readonly ToolCall[], turn: number): NonNullable<NewStep['tool_calls']> {
  const seen = new Set<string>()
  return calls.map(({ id, function: { name, arguments: args } }, number) => {
    const own = id === undefined || id === '' || seen.has(id) ? `call_${turn}_${number}` : id
    seen.add(own)
    const parsed = typeof args === 'string' ? objectOf(args) : args
    // Arguments that are no object are kept as they came.
    const extra = {
      ...(parsed === undefined ? { raw_arguments: args } : {}),
      ...(id === undefined || id === own ? {} : { id }),
    }
    return {
      tool_call_id: own,
      function_name: name,
      arguments: { ...parsed },
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    }
  })
}

function contentOf(content: ChatMessage['content']): AtifContent {
  if (content === null) return ''
  if (typeof content === 'string') return content
  // Images are addresses here and files there: what cannot be told is said.
  return content.map((block) => ({
    type: 'text' as const,
    text: block.type === 'text' && typeof block.text === 'string' ? block.text : '[image]',
  }))
}

function saidStep({ content, tool_calls = [], reasoning_content }: ChatMessage): NewStep {
  const calls = toolCalls(tool_calls, 0)
  return {
    source: 'agent',
    message: contentOf(content),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reasoning_content === undefined ? {} : { extra: { reasoning_content } }),
  }
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
