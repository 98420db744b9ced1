// The policy of a run as the controller reaches it: every call of an agent becomes a question to the worker that holds the model.
// Answers come from a process that runs code of the project: they are words, and nothing in them is trusted.
import type {
  FromWorker,
  GenerateRequest,
  OpenInferenceClient,
  PolicyQuestion,
  ToWorker,
} from '../../contracts/index.ts'
import { EvsysError, onAbort } from '../../kernel/index.ts'

type Told = Extract<FromWorker, { type: 'answer' | 'no_answer' }>

export interface PolicyQuestions {
  /** The policy that answers for request `request` of the worker, in one session. */
  client(request: number, session: string): OpenInferenceClient
  /** Takes in what the worker says. An answer that nobody waits for is dropped. */
  take(told: Told): void
  /** Whoever waits gets this error: the worker is gone. */
  close(reason: EvsysError): void
}

export function createPolicyQuestions(send: (message: ToWorker) => void): PolicyQuestions {
  const waiting = new Map<number, { resolve(told: Told): void; reject(reason: unknown): void }>()
  let asked = 0
  let closed: EvsysError | undefined
  const ask = (request: number, question: PolicyQuestion, signal: AbortSignal) =>
    new Promise<Told>((resolve, reject) => {
      if (closed !== undefined) throw closed
      signal.throwIfAborted()
      asked += 1
      const number = asked
      const quiet = onAbort(signal, () => waiting.get(number)?.reject(signal.reason))
      const over = () => {
        waiting.delete(number)
        quiet()
      }
      waiting.set(number, {
        resolve(told) {
          over()
          resolve(told)
        },
        reject(reason) {
          over()
          reject(reason)
        },
      })
      send({ type: 'ask', request, question: number, ...question })
    })

  return {
    client: (request, session) => ({
      takesTools: false, // tools of agents that run here are told in words
      async generate(asking, signal) {
        const told = await ask(request, questionOf(session, asking), signal)
        if (told.type === 'answer') return generatedOf(told.answer)
        if (told.is_too_long === true) {
          const { LimitReached } = await import('../../rollout/index.ts') // whoever asks has loaded it
          throw new LimitReached('context')
        }
        const { code, message, fix } = told.error
        throw new EvsysError(code, message, fix === undefined ? {} : { fix })
      },
    }),
    take(told) {
      waiting.get(told.question)?.resolve(told)
    },
    close(reason) {
      closed = reason
      for (const each of [...waiting.values()]) each.reject(reason)
    },
  }
}

function questionOf(session: string, request: GenerateRequest): PolicyQuestion {
  const { messages, tools, stop, seed, maxTokens, temperature, topP, topK } = request
  return {
    ...{ session, messages: [...messages], seed, max_tokens: maxTokens, temperature },
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ ...tool, parameters: { ...tool.parameters } })) }),
    ...(stop === undefined ? {} : { stop: [...stop] }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

function generatedOf(answer: Extract<Told, { type: 'answer' }>['answer']) {
  const { text, reasoning, tool_calls, stop_reason, prompt_tokens, completion_tokens, latency_s } = answer
  return {
    ...{ text, stopReason: stop_reason },
    usage: { promptTokens: prompt_tokens, completionTokens: completion_tokens, latencyS: latency_s },
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(tool_calls === undefined ? {} : { toolCalls: tool_calls }),
  }
}
