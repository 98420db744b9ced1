// A look at a benchmark of task folders: the trials run elsewhere, beside the tests; here the weights of the look answer for the policy,
// and agents of the project lead it.

import { isDeepStrictEqual } from 'node:util'
import type {
  AgentOrder,
  AgentRecord,
  GenerateRequest,
  HarborTask,
  OpenEnvironment,
  OpenInferenceClient,
  PolicyAnswer,
  PolicyQuestion,
  Prediction,
  Scored,
  SealedBenchmark,
  Turn,
  Weights,
} from '../../contracts/index.ts'
import { withSystemPrompt } from '../../evaluate/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { type AgentOutcome, createTokenPolicy, runAgent } from '../../rollout/index.ts'
import type { RunScope } from './run-scope.ts'

export async function attemptTasks(
  scope: RunScope,
  benchmark: SealedBenchmark,
  weights: Weights,
  step: number | undefined,
): Promise<{ scored: Scored; predictions: readonly Prediction[] }> {
  const { askTrials, systemPrompt } = scope
  if (askTrials === undefined) {
    throw new EvsysError('INTERNAL', `nobody attempts the task folders of benchmark "${benchmark.name}" here`)
  }
  return askTrials({
    benchmark: benchmark.name,
    step,
    system_prompt: systemPrompt ?? benchmark.chat_template.system_prompt ?? '',
    answer: answering(scope, weights),
    lead: (order, environment, signal) =>
      leadTask(scope, { order, environment, policy: openPolicy(scope, weights) }, signal),
  })
}

/** Speaks for the weights. Each session has a policy of its own, which keeps the tokens of its conversation. */
function answering(scope: RunScope, weights: Weights) {
  const { services } = scope
  const sessions = new Map<string, OpenInferenceClient>()
  return async (question: PolicyQuestion): Promise<PolicyAnswer> => {
    const policy = sessions.get(question.session) ?? openPolicy(scope, weights)
    sessions.set(question.session, policy)
    const { text, reasoning, toolCalls, stopReason, usage } = await policy.generate(
      requestOf(question),
      services.signal,
    )
    return {
      text,
      stop_reason: stopReason,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      latency_s: usage.latencyS,
      reasoning,
      tool_calls: toolCalls === undefined ? undefined : [...toolCalls],
    }
  }
}

function openPolicy({ model, renderer }: RunScope, weights: Weights): OpenInferenceClient {
  return createTokenPolicy({
    renderer,
    sample: (request) => model.sample({ ...request, model: weights }),
    version: () => 0, // nothing is trained on what is answered here
    maxContext: model.backend.maxContext,
  })
}

function requestOf(question: PolicyQuestion): GenerateRequest {
  const { messages, tools, stop, seed, max_tokens: maxTokens, temperature, top_p: topP, top_k: topK } = question
  return {
    messages,
    seed,
    maxTokens,
    temperature,
    tools:
      tools === undefined ? undefined : tools.map(({ description, ...tool }) => ({ ...tool, ...told(description) })),
    stop,
    topP,
    topK,
  }
}

function told(description: string | undefined): { description?: string | undefined } {
  return description === undefined ? {} : { description }
}

// An agent of the project in a trial of a benchmark: it runs here, where the project's code is, and acts in an environment that is
// elsewhere. What it did is told in words; the tests that follow are not its business.

/** What is told of the turns of one agent; the rest of a message is small. */
const TURNS_CHARS = 600_000

async function leadTask(
  { services }: RunScope,
  { order, environment, policy }: { order: AgentOrder; environment: OpenEnvironment; policy: OpenInferenceClient },
  signal: AbortSignal,
): Promise<AgentRecord> {
  const { agent, task_id, instruction, metadata, max_tokens: maxTokens, temperature, seed_path } = order
  const task: HarborTask = {
    task_id,
    instruction,
    metadata,
    verifier: { kind: 'in_process', fn_name: 'sealed', expected: undefined, params: {} },
  }
  const { registry, log, secret, random } = services
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
    output: output === undefined ? undefined : output.slice(0, 100_000),
    truncated,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    latency_s: usage.latencyS,
    error,
    ...(ended === 'timeout' ? { is_late: true as const } : {}),
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
    const turn = {
      kept,
      messages: messages.slice(kept),
      text,
      stop_reason: stopReason,
      tool_calls: toolCalls === undefined ? undefined : [...toolCalls],
    }
    left -= JSON.stringify(turn).length
    if (left < 0) break
    all.push(turn)
  }
  return all
}
