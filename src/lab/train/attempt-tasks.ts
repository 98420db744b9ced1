// A look at a benchmark of task folders: the trials run elsewhere, beside the tests; here the weights of the look answer for the policy,
// and agents of the project lead it.
import type {
  GenerateRequest,
  OpenInferenceClient,
  PolicyAnswer,
  PolicyQuestion,
  Prediction,
  Scored,
  SealedBenchmark,
  Weights,
} from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { createTokenPolicy } from '../../rollout/index.ts'
import { leadTask } from './lead-task.ts'
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
    ...(step === undefined ? {} : { step }),
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
      ...{ text, stop_reason: stopReason },
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      latency_s: usage.latencyS,
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(toolCalls === undefined ? {} : { tool_calls: [...toolCalls] }),
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
    ...{ messages, seed, maxTokens, temperature },
    ...(tools === undefined
      ? {}
      : { tools: tools.map(({ description, ...tool }) => ({ ...tool, ...told(description) })) }),
    ...(stop === undefined ? {} : { stop }),
    ...(topP === undefined ? {} : { topP }),
    ...(topK === undefined ? {} : { topK }),
  }
}

function told(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description }
}
