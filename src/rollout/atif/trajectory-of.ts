// Turns as an ATIF document. What was new in the prompt of a turn becomes steps of system and user; results of tools are the
// observation of the step that called them; the answer is a step of the agent with its exact tokens. As a file it is whole at every
// moment, with long lists of numbers on one line.
import { answerOf, messageKey } from '../../algorithms/index.ts'
import {
  type AtifContent,
  type AtifFinalMetrics,
  type AtifMetrics,
  type AtifStep,
  AtifTrajectory,
  type ChatMessage,
  type ToolCall,
  type ToolSpec,
  type Turn,
} from '../../contracts/index.ts'
import { checkValue, EvsysError, isMapping, writeFileAtomic } from '../../kernel/index.ts'

interface TrajectoryOptions {
  readonly agent: { readonly name: string; readonly version: string; readonly model?: string | undefined }
  readonly tools?: readonly ToolSpec[] | undefined
  readonly sessionId?: string | undefined
  readonly trajectoryId?: string | undefined
  readonly turns: readonly Turn[]
  /** What the environment answered after the last turn. */
  readonly after?: readonly ChatMessage[] | undefined
  readonly subagents?: readonly AtifTrajectory[] | undefined
  /**
   * `full`: every step has the whole prompt, as other tools expect. `compact`: only what is new in it, where the prompt holds the
   * tokens of the turn before.
   */
  readonly tokens?: 'full' | 'compact' | 'none' | undefined
}

/** The document of a trajectory. There is at least one turn, or a message after none. */
export function trajectoryOf(options: TrajectoryOptions): AtifTrajectory {
  const { agent, tools = [], turns, after = [], subagents = [], tokens = 'full' } = options
  const steps: NewStep[] = []
  let known: readonly string[] = []
  let last: Turn | undefined
  for (const [index, turn] of turns.entries()) {
    const keys = turn.messages.map(messageKey)
    const isExtended = known.every((key, at) => keys[at] === key)
    if (isExtended) addMessages(steps, turn.messages.slice(known.length))
    else rewrite(steps, turn.messages, index)
    steps.push(answerStep(turn, index, tokens === 'compact' && isExtended ? last : undefined, tokens))
    known = [...keys, messageKey(answerOf(turn))]
    last = turn
  }
  addMessages(steps, after)
  const numbered = steps.map((step, at): AtifStep => ({ step_id: at + 1, ...step }))
  return {
    schema_version: 'ATIF-v1.7',
    session_id: options.sessionId,
    trajectory_id: options.trajectoryId,
    agent: {
      name: agent.name,
      version: agent.version,
      model_name: agent.model,
      tool_definitions: unlessEmpty(tools.map((each) => ({ type: 'function', function: { ...each } }))),
    },
    steps: numbered,
    final_metrics: finalMetrics(numbered, subagents),
    subagent_trajectories: unlessEmpty(subagents),
  }
}

/** Writes a trajectory, replacing what is there. A document that is no ATIF is refused. */
export async function writeTrajectory(file: string, trajectory: AtifTrajectory): Promise<void> {
  const checked = checkValue(AtifTrajectory, trajectory)
  if (!checked.ok) {
    const faults = checked.issues.slice(0, 3).map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new EvsysError('INTERNAL', `the trajectory is no valid ATIF: ${faults.join('; ')}`)
  }
  await writeFileAtomic(file, trajectoryText(trajectory))
}

export function trajectoryText(trajectory: AtifTrajectory): string {
  const text = JSON.stringify(trajectory, undefined, 2)
  return `${text.replace(/\[\s*(-?[\d.][^[\]{}"]*?)\s*\]/g, (_, list: string) => `[${list.replace(/\s+/g, ' ')}]`)}\n`
}

function addMessages(steps: NewStep[], messages: readonly ChatMessage[], stepOf = messageStep): void {
  for (const message of messages) {
    const last = steps.at(-1)
    if (message.role === 'tool' && last !== undefined) last.observation = observation(last, message)
    else steps.push(stepOf(message))
  }
}

// The agent shortened or changed its history: what it carried over stands again, marked as a copy.
function rewrite(steps: NewStep[], messages: readonly ChatMessage[], turn: number): void {
  const extra = { context_management: { type: 'rewrite', boundary: steps.length + 1 }, turn }
  steps.push({ source: 'system', message: 'The history of the conversation was rewritten.', extra })
  const copies: NewStep[] = []
  addMessages(copies, messages, (message) => ({ ...messageStep(message), is_copied_context: true }))
  steps.push(...copies)
}

function answerStep(turn: Turn, index: number, before: Turn | undefined, tokens: TrajectoryOptions['tokens']): NewStep {
  const tool_calls = unlessEmpty(toolCalls(turn.toolCalls ?? [], index))
  const metrics = metricsOf(turn, before, tokens)
  return { source: 'agent', message: turn.text, llm_call_count: 1, tool_calls, metrics }
}

function metricsOf(
  { tokens, stopReason }: Turn,
  before: Turn | undefined,
  mode: TrajectoryOptions['tokens'],
): AtifMetrics {
  if (tokens === undefined) return { extra: { finish_reason: stopReason } }
  const { prompt, completion, logprobs, policyVersion } = tokens
  const kept = (before?.tokens?.prompt.length ?? 0) + (before?.tokens?.completion.length ?? 0)
  const isDelta = before?.tokens !== undefined && holds(prompt, before.tokens)
  const areSound = logprobs.length === completion.length && logprobs.every(Number.isFinite)
  return {
    prompt_tokens: prompt.length,
    completion_tokens: completion.length,
    prompt_token_ids: mode === 'none' || isDelta ? undefined : [...prompt],
    completion_token_ids: mode === 'none' ? undefined : [...completion],
    logprobs: mode === 'none' || !areSound ? undefined : [...logprobs],
    extra: {
      finish_reason: stopReason,
      policy_version: policyVersion,
      trainable: areSound && completion.length > 0,
      prompt_delta_token_ids: mode !== 'none' && isDelta ? [...prompt.subarray(kept)] : undefined,
    },
  }
}

function holds(prompt: Int32Array, before: { readonly prompt: Int32Array; readonly completion: Int32Array }): boolean {
  const { length } = before.prompt
  if (prompt.length < length + before.completion.length) return false
  return (
    before.prompt.every((token, at) => prompt[at] === token) &&
    before.completion.every((token, at) => prompt[length + at] === token)
  )
}

// Messages as parts of ATIF steps, and back.

/** A step without its number. */
type NewStep = Omit<AtifStep, 'step_id'>

/** A message that no turn drew: of the system, the user, or words put into the agent's mouth. */
function messageStep(message: ChatMessage): NewStep {
  const { role, content } = message
  if (role === 'assistant') return { ...saidStep(message), llm_call_count: 0 }
  // The result of a tool with no step before it: a conversation that begins in the middle.
  if (role === 'tool')
    return { source: 'system', message: '', observation: { results: [{ content: contentOf(content) }] } }
  return {
    source: role,
    message: contentOf(content),
    extra: message.name === undefined ? undefined : { name: message.name },
  }
}

/** The observation of a step, with the result of one more of its calls. */
function observation({ observation: before, tool_calls = [] }: NewStep, message: ChatMessage): NewStep['observation'] {
  const results = before?.results ?? []
  const answered = new Set(results.map(({ source_call_id }) => source_call_id))
  const open = tool_calls.filter(({ tool_call_id }) => !answered.has(tool_call_id))
  // Results without a known id answer the open calls in order.
  const call =
    open.find(({ tool_call_id, extra }) => [tool_call_id, extra?.id].includes(message.tool_call_id)) ?? open[0]
  const own = { source_call_id: call?.tool_call_id, content: contentOf(message.content) }
  return { ...before, results: [...results, own] }
}

/** Calls with ids: one's own, or `call_<turn>_<number>`; ids that repeat within the step are numbered as well. */
function toolCalls(calls: readonly ToolCall[], turn: number): NonNullable<NewStep['tool_calls']> {
  const seen = new Set<string>()
  return calls.map(({ id, function: { name, arguments: args } }, number) => {
    const own = id === undefined || id === '' || seen.has(id) ? `call_${turn}_${number}` : id
    seen.add(own)
    const parsed = typeof args === 'string' ? objectOf(args) : args
    // Arguments that are no object are kept as they came.
    const raw_arguments = parsed === undefined ? args : undefined
    const other = id === own ? undefined : id
    const extra = raw_arguments === undefined && other === undefined ? undefined : { raw_arguments, id: other }
    return { tool_call_id: own, function_name: name, arguments: { ...parsed }, extra }
  })
}

function contentOf(content: ChatMessage['content']): AtifContent {
  if (content === null) return ''
  if (typeof content === 'string') return content
  // Images are addresses here and files there: what cannot be carried over is named.
  return content.map((block) => ({
    type: 'text' as const,
    text: block.type === 'text' && typeof block.text === 'string' ? block.text : '[image]',
  }))
}

function saidStep({ content, tool_calls = [], reasoning_content }: ChatMessage): NewStep {
  const extra = reasoning_content === undefined ? undefined : { reasoning_content }
  return { source: 'agent', message: contentOf(content), tool_calls: unlessEmpty(toolCalls(tool_calls, 0)), extra }
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isMapping(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** The sums over the steps and over embedded subagents. What no step reports is left out. */
export function finalMetrics(
  steps: readonly AtifStep[],
  subagents: readonly Pick<AtifTrajectory, 'final_metrics'>[] = [],
): AtifFinalMetrics {
  const inner = subagents.flatMap(({ final_metrics }) => (final_metrics === undefined ? [] : [final_metrics]))
  const own = steps.flatMap(({ metrics }) => (metrics === undefined ? [] : [metrics]))
  const total = (field: 'prompt_tokens' | 'completion_tokens' | 'cached_tokens' | 'cost_usd') =>
    sum([...own.map((each) => each[field]), ...inner.map((each) => each[`total_${field}`])])
  return {
    total_prompt_tokens: total('prompt_tokens'),
    total_completion_tokens: total('completion_tokens'),
    total_cached_tokens: total('cached_tokens'),
    total_cost_usd: total('cost_usd'),
    total_steps: steps.length,
  }
}

function unlessEmpty<T>(items: readonly T[]): T[] | undefined {
  return items.length === 0 ? undefined : [...items]
}

function sum(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((total, value) => total + value, 0)
}
