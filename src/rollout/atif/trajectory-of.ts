// Turns as an ATIF document. What was new in the prompt of a turn becomes steps of system and user; results of tools are the
// observation of the step that called them; the answer is a step of the agent with its exact tokens.

import { answerOf, messageKey } from '../../algorithms/index.ts'
import type { AtifMetrics, AtifStep, AtifTrajectory, ChatMessage, ToolSpec, Turn } from '../../contracts/index.ts'
import { finalMetrics } from './final-metrics.ts'
import { copiedStep, messageStep, type NewStep, observation, toolCalls } from './message-steps.ts'

export interface TrajectoryOptions {
  readonly agent: { readonly name: string; readonly version: string; readonly model?: string }
  readonly tools?: readonly ToolSpec[]
  readonly sessionId?: string
  readonly trajectoryId?: string
  readonly turns: readonly Turn[]
  /** What the environment answered after the last turn. */
  readonly after?: readonly ChatMessage[]
  readonly subagents?: readonly AtifTrajectory[]
  readonly notes?: string
  /**
   * `full`: every step has the whole prompt, as other tools expect. `compact`: only what is new in it, where the prompt holds the
   * tokens of the turn before.
   */
  readonly tokens?: 'full' | 'compact' | 'none'
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
    ...(options.sessionId === undefined ? {} : { session_id: options.sessionId }),
    ...(options.trajectoryId === undefined ? {} : { trajectory_id: options.trajectoryId }),
    agent: {
      name: agent.name,
      version: agent.version,
      ...(agent.model === undefined ? {} : { model_name: agent.model }),
      ...(tools.length === 0
        ? {}
        : { tool_definitions: tools.map((each) => ({ type: 'function', function: { ...each } })) }),
    },
    steps: numbered,
    ...(options.notes === undefined ? {} : { notes: options.notes }),
    final_metrics: finalMetrics(numbered, subagents),
    ...(subagents.length === 0 ? {} : { subagent_trajectories: [...subagents] }),
  }
}

function addMessages(steps: NewStep[], messages: readonly ChatMessage[]): void {
  for (const message of messages) {
    const last = steps.at(-1)
    if (message.role === 'tool' && last !== undefined) last.observation = observation(last, message)
    else steps.push(messageStep(message))
  }
}

// The agent shortened or changed its history: what it carried over stands again, marked as a copy.
function rewrite(steps: NewStep[], messages: readonly ChatMessage[], turn: number): void {
  const boundary = steps.length + 1
  steps.push({
    source: 'system',
    message: 'The history of the conversation was rewritten.',
    extra: { context_management: { type: 'rewrite', boundary }, turn },
  })
  const copies: NewStep[] = []
  for (const message of messages) {
    const last = copies.at(-1)
    if (message.role === 'tool' && last !== undefined) last.observation = observation(last, message)
    else copies.push(copiedStep(message))
  }
  steps.push(...copies)
}

function answerStep(turn: Turn, index: number, before: Turn | undefined, tokens: TrajectoryOptions['tokens']): NewStep {
  const calls = toolCalls(turn.toolCalls ?? [], index)
  return {
    source: 'agent',
    message: turn.text,
    llm_call_count: 1,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    metrics: metricsOf(turn, before, tokens),
  }
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
    ...(mode === 'none' || isDelta ? {} : { prompt_token_ids: [...prompt] }),
    ...(mode === 'none' ? {} : { completion_token_ids: [...completion] }),
    ...(mode === 'none' || !areSound ? {} : { logprobs: [...logprobs] }),
    extra: {
      finish_reason: stopReason,
      policy_version: policyVersion,
      trainable: areSound && completion.length > 0,
      ...(mode !== 'none' && isDelta ? { prompt_delta_token_ids: [...prompt.subarray(kept)] } : {}),
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
