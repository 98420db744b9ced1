// A policy in one process and the agent that asks it in another: both ends of the exchange, in words. Tokens stay where the model is.
import type { OpenInferenceClient, PolicyQuestion, PolicyReply } from '../../contracts/index.ts'
import { LimitReached, limitOf } from './limit-reached.ts'

/** The policy as an agent elsewhere has it, in one session: a part of one attempt. */
export function remotePolicy(
  { session, takesTools }: { session: string; takesTools: boolean },
  ask: (question: PolicyQuestion, signal: AbortSignal) => Promise<PolicyReply>,
): OpenInferenceClient {
  return {
    takesTools,
    async generate({ messages, tools, stop, maxTokens, topP, topK, seed, temperature }, signal) {
      const answer = await ask(
        {
          session,
          messages: [...messages],
          seed,
          max_tokens: maxTokens,
          temperature,
          tools: tools?.map((tool) => ({ ...tool, parameters: { ...tool.parameters } })),
          stop: stop && [...stop],
          top_p: topP,
          top_k: topK,
        },
        signal,
      )
      if ('is_too_long' in answer) throw new LimitReached('context')
      const { text, reasoning, tool_calls, stop_reason, prompt_tokens, completion_tokens, latency_s, cost_usd } = answer
      const usage = {
        promptTokens: prompt_tokens,
        completionTokens: completion_tokens,
        latencyS: latency_s,
        costUsd: cost_usd,
      }
      return { text, stopReason: stop_reason, usage, reasoning, toolCalls: tool_calls }
    },
  }
}

/** What a policy answers to a question from elsewhere. */
export async function answerQuestion(
  policy: OpenInferenceClient,
  question: PolicyQuestion,
  signal: AbortSignal,
): Promise<PolicyReply> {
  const { session: _, max_tokens: maxTokens, top_p: topP, top_k: topK, ...rest } = question
  try {
    const { text, reasoning, toolCalls, stopReason, usage } = await policy.generate(
      { ...rest, maxTokens, topP, topK },
      signal,
    )
    return {
      text,
      stop_reason: stopReason,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      latency_s: usage.latencyS,
      cost_usd: usage.costUsd,
      reasoning,
      tool_calls: toolCalls && [...toolCalls],
    }
  } catch (error) {
    if (limitOf(error) === 'context') return { is_too_long: true }
    throw error
  }
}
