// The turns of an ATIF document: what its agent was asked and answered, with the exact tokens where they are recorded. Copied context
// and steps without a call of the model are part of prompts, never turns: they were not drawn.
import type {
  AtifContent,
  AtifMetrics,
  AtifStep,
  AtifTrajectory,
  ChatMessage,
  ToolCall,
  Turn,
  TurnTokens,
} from '../src/contracts/index.ts'

/** Turns of the steps of one document, in order. */
export function turnsOf(steps: AtifTrajectory['steps']): Turn[] {
  const turns: Turn[] = []
  let messages: ChatMessage[] = []
  for (const step of steps) {
    if (step.extra?.context_management !== undefined) {
      messages = []
      continue
    }
    const said = messageOf(step)
    if (isDrawn(step)) turns.push(turnOf(step, said, messages, turns.at(-1)?.tokens))
    messages = [...messages, ...(said === undefined ? [] : [said]), ...results(step)]
  }
  return turns
}

function isDrawn({ source, is_copied_context, llm_call_count, metrics, message }: AtifStep): boolean {
  if (source !== 'agent' || is_copied_context === true || llm_call_count === 0) return false
  return llm_call_count !== undefined || metrics !== undefined || message !== ''
}

function turnOf(
  step: AtifStep,
  said: ChatMessage | undefined,
  messages: ChatMessage[],
  before: TurnTokens | undefined,
): Turn {
  const tokens = tokensOf(step.metrics, before)
  const calls = said?.tool_calls ?? []
  return {
    messages,
    text: textOf(step.message),
    toolCalls: calls.length === 0 ? undefined : calls,
    stopReason: stopReason(step, calls.length > 0),
    tokens,
  }
}

// Ids without log-probabilities are kept without: training sees that they are missing.
function tokensOf(metrics: AtifMetrics | undefined, before: TurnTokens | undefined): TurnTokens | undefined {
  const { completion_token_ids: completion, logprobs = [], extra } = metrics ?? {}
  const delta = extra?.prompt_delta_token_ids
  const isDelta = before !== undefined && Array.isArray(delta)
  const prompt = metrics?.prompt_token_ids ?? (isDelta ? [...before.prompt, ...before.completion, ...delta] : undefined)
  if (completion === undefined || prompt === undefined) return undefined
  const version = extra?.policy_version
  return {
    prompt: Int32Array.from(prompt),
    completion: Int32Array.from(completion),
    logprobs: Float64Array.from(logprobs),
    policyVersion: typeof version === 'number' ? version : 0,
  }
}

const reasons = ['stop', 'length', 'tool_calls', 'refused', 'abort'] as const

function stopReason({ metrics }: AtifStep, hasCalls: boolean): Turn['stopReason'] {
  return reasons.find((reason) => reason === metrics?.extra?.finish_reason) ?? (hasCalls ? 'tool_calls' : 'stop')
}

function messageOf({ source, message, tool_calls = [], extra }: AtifStep): ChatMessage | undefined {
  const text = textOf(message)
  if (source === 'user' || source === 'system') return { role: source, content: text }
  const calls = tool_calls.map(
    ({ tool_call_id, function_name, arguments: args, extra: own }): ToolCall => ({
      id: tool_call_id,
      type: 'function',
      function: { name: function_name, arguments: typeof own?.raw_arguments === 'string' ? own.raw_arguments : args },
    }),
  )
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    tool_calls: calls.length === 0 ? undefined : calls,
    reasoning_content: typeof extra?.reasoning_content === 'string' ? extra.reasoning_content : undefined,
  }
}

function results({ observation, source }: AtifStep): ChatMessage[] {
  return (observation?.results ?? []).map(({ source_call_id, content = '' }) => ({
    role: source_call_id === undefined && source !== 'agent' ? 'user' : 'tool',
    content: textOf(content),
    tool_call_id: source_call_id,
  }))
}

function textOf(content: AtifContent): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : '[image]')).join('')
}
