// An evaluation on a benchmark of task folders: the trials run elsewhere, beside the tests; here the evaluated weights answer for the
// policy, and agents of the project run.
import { isDeepStrictEqual } from 'node:util'
import type {
  AgentOrder,
  AgentRecord,
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
    throw new EvsysError('INTERNAL', `the task folders of benchmark "${benchmark.name}" are not attempted here`)
  }
  const { inference } = benchmark
  const client = inference === undefined ? undefined : await scope.others.client(inference)
  const open = () => client ?? openPolicy(scope, weights)
  return askTrials({
    benchmark: benchmark.name,
    step,
    system_prompt: systemPrompt ?? benchmark.chat_template.system_prompt ?? '',
    answer: answering(scope, open),
    runAgent: (order, environment, signal) => runOrder(scope, { order, environment, policy: open() }, signal),
  })
}

/** Answers for the weights, or for the client in their place. Each session has a separate policy, which keeps the tokens of its conversation. */
function answering(scope: RunScope, open: () => OpenInferenceClient) {
  const sessions = new Map<string, OpenInferenceClient>()
  return async (question: PolicyQuestion): Promise<PolicyAnswer> => {
    const policy = sessions.get(question.session) ?? open()
    sessions.set(question.session, policy)
    const { session: _, max_tokens: maxTokens, top_p: topP, top_k: topK, ...rest } = question
    const request = { ...rest, maxTokens, topP, topK }
    const { text, reasoning, toolCalls, stopReason, usage } = await policy.generate(request, scope.services.signal)
    return {
      text,
      stop_reason: stopReason,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      latency_s: usage.latencyS,
      reasoning,
      tool_calls: toolCalls && [...toolCalls],
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

// An agent of the project in a trial of a benchmark: it runs here, where the project's code is, and acts in an environment that is
// elsewhere. What it did is reported in words; the tests that follow are not its business.

/** What is reported of the turns of one agent; the rest of a message is small. */
const TURNS_CHARS = 600_000

async function runOrder(
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
