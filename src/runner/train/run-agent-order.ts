// An agent of the project in an evaluation: it runs here, where the project's code is, asks a model that is elsewhere, and acts in an
// environment that is elsewhere. What it did is reported in words; what that is worth is not its business.
import { isDeepStrictEqual } from 'node:util'
import type {
  AgentOrder,
  AgentRecord,
  HarborTask,
  OpenEnvironment,
  OpenInferenceClient,
  Turn,
} from '../../contracts/index.ts'
import { withSystemPrompt } from '../../evaluate/index.ts'
import { type AgentOutcome, runAgent } from '../../rollout/index.ts'
import type { RunServices } from './run-context.ts'

/** What is reported of the turns of one agent; the rest of a message is small. */
const TURNS_CHARS = 600_000

export interface AgentPlace {
  readonly policy: OpenInferenceClient
  /** Absent: the task has none. */
  readonly environment?: OpenEnvironment | undefined
}

export async function runAgentOrder(
  order: AgentOrder,
  { policy, environment }: AgentPlace,
  { registry, log, secret, random }: RunServices,
  signal: AbortSignal,
): Promise<AgentRecord> {
  const { agent, task_id, instruction, metadata, max_tokens: maxTokens, temperature, seed_path } = order
  const task: HarborTask = {
    task_id,
    instruction,
    metadata,
    verifier: { kind: 'in_process', fn_name: 'sealed', expected: undefined, params: {} },
  }
  const outcome = await runAgent({
    agent,
    task,
    environment,
    signal,
    sampling: { maxTokens, temperature },
    policy: withSystemPrompt(policy, order.system_prompt),
    services: { registry, log, secret, random: (...path) => random(...seed_path, ...path) },
  })
  return recordOf(outcome)
}

function recordOf({ ended, output, truncated, usage, error, turns }: AgentOutcome): AgentRecord {
  return {
    output: output?.slice(0, 100_000),
    truncated,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    latency_s: usage.latencyS,
    error,
    is_late: ended === 'timeout' ? true : undefined,
    turns: reported(turns),
  }
}

// A conversation grows at its end: what a turn shares with the one before is not said again.
function reported(turns: readonly Turn[]): AgentRecord['turns'] {
  const all: AgentRecord['turns'] = []
  let left = TURNS_CHARS
  for (const [index, { messages, text, toolCalls, stopReason }] of turns.entries()) {
    const before = turns[index - 1]?.messages ?? []
    const differs = messages.findIndex((message, i) => !isDeepStrictEqual(message, before[i]))
    const kept = Math.min(differs < 0 ? messages.length : differs, before.length)
    const tool_calls = toolCalls && [...toolCalls]
    const turn = { kept, messages: messages.slice(kept), text, stop_reason: stopReason, tool_calls }
    left -= JSON.stringify(turn).length
    if (left < 0) break
    all.push(turn)
  }
  return all
}
