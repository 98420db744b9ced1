import type { OpenInferenceClient } from '../../contracts/index.ts'

/** What the answers of a client took together. */
export interface TotalUsage {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** Of the calls whose price is known. */
  readonly costUsd: number
  /** Calls whose price is not known: while there are any, `costUsd` is a lower bound. */
  readonly unpriced: number
  /** Calls that were answered from a cassette; they count nowhere else. */
  readonly replayed: number
}

/** A client that adds up what it uses. `onAnswer` hears the total after each answer. */
export function meterUsage(
  client: OpenInferenceClient,
  onAnswer: (total: TotalUsage) => void = () => {},
): { client: OpenInferenceClient; total: () => TotalUsage } {
  let total: TotalUsage = { calls: 0, promptTokens: 0, completionTokens: 0, costUsd: 0, unpriced: 0, replayed: 0 }
  const close = client[Symbol.asyncDispose]?.bind(client)
  const metered: OpenInferenceClient = {
    ...(client.takesTools === undefined ? {} : { takesTools: client.takesTools }),
    async generate(request, signal) {
      const answer = await client.generate(request, signal)
      const { promptTokens, completionTokens, costUsd } = answer.usage
      total =
        answer.replayed === true
          ? { ...total, replayed: total.replayed + 1 }
          : {
              calls: total.calls + 1,
              promptTokens: total.promptTokens + promptTokens,
              completionTokens: total.completionTokens + completionTokens,
              costUsd: total.costUsd + (costUsd ?? 0),
              unpriced: total.unpriced + (costUsd === undefined ? 1 : 0),
              replayed: total.replayed,
            }
      onAnswer(total)
      return answer
    },
    ...(close === undefined ? {} : { [Symbol.asyncDispose]: () => close() }),
  }
  return { client: metered, total: () => total }
}
