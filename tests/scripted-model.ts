// A model that answers from a script, for tests of what is around a model.
import type { Generated, GenerateRequest, OpenInferenceClient } from '../src/contracts/index.ts'

export interface ScriptedModel extends OpenInferenceClient {
  /** What it was asked, in order. */
  readonly asked: readonly GenerateRequest[]
}

type Answer = string | Partial<Generated>

/** `script`: answers in order, or a function of the request and the number of the call. Every answer has 3 + 2 tokens. */
export function scriptedModel(
  script:
    | readonly Answer[]
    | ((request: GenerateRequest, call: number, signal: AbortSignal) => Answer | Promise<Answer>),
  { takesTools }: { takesTools?: boolean | undefined } = {},
): ScriptedModel {
  const asked: GenerateRequest[] = []
  return {
    asked,
    ...(takesTools === undefined ? {} : { takesTools }),
    async generate(request, signal) {
      const call = asked.length
      asked.push({ ...request, messages: [...request.messages] })
      const answer = typeof script === 'function' ? await script(request, call, signal) : script[call]
      if (answer === undefined) throw new Error(`the script has no answer ${call}`)
      const given = typeof answer === 'string' ? { text: answer } : answer
      const calls = given.toolCalls !== undefined
      return {
        text: '',
        stopReason: calls ? 'tool_calls' : 'stop',
        usage: { promptTokens: 3, completionTokens: 2, latencyS: 0.5 },
        ...given,
      }
    },
  }
}
