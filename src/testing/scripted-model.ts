// A model that answers from a script: what an agent, a judge or a teacher is tested with.
import type { Generated, GenerateRequest, OpenInferenceClient } from '../contracts/index.ts'

export interface ScriptedModel extends OpenInferenceClient {
  /** The requests that it received, in order. */
  readonly requests: readonly GenerateRequest[]
}

/** Answers in order: texts, or parts of an answer such as tool calls. */
export function scriptedModel(script: readonly (string | Partial<Generated>)[]): ScriptedModel {
  const requests: GenerateRequest[] = []
  return {
    requests,
    async generate(request, signal) {
      signal.throwIfAborted()
      const answer = script[requests.length]
      requests.push({ ...request, messages: [...request.messages] })
      if (answer === undefined) throw new Error(`the script has ${script.length} answers, and one more was asked for`)
      const given = typeof answer === 'string' ? { text: answer } : answer
      return {
        text: '',
        stopReason: given.toolCalls === undefined ? 'stop' : 'tool_calls',
        usage: { promptTokens: 3, completionTokens: 2, latencyS: 0 },
        ...given,
      }
    },
  }
}
