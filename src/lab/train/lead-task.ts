// An agent of the project in a trial of a benchmark: it runs here, where the project's code is, and acts in an environment that is
// elsewhere. What it did is told in words; the tests that follow are not its business.
import { isDeepStrictEqual } from 'node:util'
import type {
  HarborTask,
  LeadOrder,
  LedRecord,
  OpenEnvironment,
  OpenInferenceClient,
  Turn,
} from '../../contracts/index.ts'
import { withSystemPrompt } from '../../evaluate/index.ts'
import { type AgentOutcome, runAgent } from '../../rollout/index.ts'
import type { RunScope } from './run-scope.ts'

/** What is told of the turns of one agent; the rest of a message is small. */
const TURNS_CHARS = 600_000

export async function leadTask(
  { services }: RunScope,
  { order, environment, policy }: { order: LeadOrder; environment: OpenEnvironment; policy: OpenInferenceClient },
  signal: AbortSignal,
): Promise<LedRecord> {
  const { agent, task_id, instruction, metadata, max_tokens: maxTokens, temperature, seed_path } = order
  const task: HarborTask = {
    ...{ task_id, instruction, metadata },
    verifier: { kind: 'in_process', fn_name: 'sealed', expected: undefined, params: {} },
  }
  const { registry, log, secret, random } = services
  const outcome = await runAgent({
    ...{ agent, task, environment, signal, sampling: { maxTokens, temperature } },
    policy: withSystemPrompt(policy, order.system_prompt),
    services: { registry, log, secret, random: (...path) => random(...seed_path, ...path) },
  })
  return recordOf(outcome)
}

function recordOf({ ended, output, truncated, usage, error, turns }: AgentOutcome): LedRecord {
  return {
    ...(output === undefined ? {} : { output: output.slice(0, 100_000) }),
    ...(truncated === undefined ? {} : { truncated }),
    ...{ prompt_tokens: usage.promptTokens, completion_tokens: usage.completionTokens, latency_s: usage.latencyS },
    ...(error === undefined ? {} : { error }),
    ...(ended === 'timeout' ? { is_late: true as const } : {}),
    turns: told(turns),
  }
}

// A conversation grows at its end: what a turn shares with the one before is not said again.
function told(turns: readonly Turn[]): LedRecord['turns'] {
  const all: LedRecord['turns'] = []
  let left = TURNS_CHARS
  for (const [index, { messages, text, toolCalls, stopReason }] of turns.entries()) {
    const before = turns[index - 1]?.messages ?? []
    const differs = messages.findIndex((message, i) => !isDeepStrictEqual(message, before[i]))
    const kept = Math.min(differs < 0 ? messages.length : differs, before.length)
    const turn = {
      ...{ kept, messages: messages.slice(kept), text, stop_reason: stopReason },
      ...(toolCalls === undefined ? {} : { tool_calls: [...toolCalls] }),
    }
    left -= JSON.stringify(turn).length
    if (left < 0) break
    all.push(turn)
  }
  return all
}
