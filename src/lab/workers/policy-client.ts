// The policy of a run as the controller reaches it: every call of an agent becomes a question to the worker that holds the model.
// Answers come from a process that runs code of the project: they are words, and nothing in them is trusted.
import type {
  GenerateRequest,
  OpenInferenceClient,
  PolicyAnswer,
  PolicyQuestion,
  workerProtocol,
} from '../../contracts/index.ts'
import type { Result } from '../../kernel/index.ts'

type Answer = Result<(typeof workerProtocol)['child'], 'answer'>

/** The policy as an agent of the controller has it. `ask` sends a question to the worker. */
export function policyClient(
  session: string,
  ask: (question: PolicyQuestion, signal: AbortSignal) => Promise<Answer>,
): OpenInferenceClient {
  return {
    takesTools: false, // tools of agents that run here are described in words
    async generate(request, signal) {
      const answer = await ask(questionOf(session, request), signal)
      if (!('is_too_long' in answer)) return generatedOf(answer)
      const { LimitReached } = await import('../../rollout/index.ts') // the agent that asks has loaded it
      throw new LimitReached('context')
    },
  }
}

function questionOf(session: string, request: GenerateRequest): PolicyQuestion {
  const { messages, tools, stop, seed, maxTokens, temperature, topP, topK } = request
  return {
    session,
    messages: [...messages],
    seed,
    max_tokens: maxTokens,
    temperature,
    tools: tools === undefined ? undefined : tools.map((tool) => ({ ...tool, parameters: { ...tool.parameters } })),
    stop: stop === undefined ? undefined : [...stop],
    top_p: topP,
    top_k: topK,
  }
}

function generatedOf(answer: PolicyAnswer) {
  const { text, reasoning, tool_calls, stop_reason, prompt_tokens, completion_tokens, latency_s } = answer
  return {
    text,
    stopReason: stop_reason,
    usage: { promptTokens: prompt_tokens, completionTokens: completion_tokens, latencyS: latency_s },
    reasoning,
    toolCalls: tool_calls,
  }
}
