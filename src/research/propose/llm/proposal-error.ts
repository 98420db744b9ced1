import type { Usage } from '../../../contracts/index.ts'
import { EvsysError, type EvsysErrorOptions } from '../../../kernel/index.ts'
import { sumUsd } from '../ledger/ledger.ts'

// Beside the error, so that it stays one of ours in every copy of this module.
const spent = Symbol.for('evsys.proposal.usage')

/** A proposal that failed, with what it cost all the same. */
export function proposalError(
  code: 'INFERENCE_FAILED' | 'INFERENCE_REFUSED' | 'AGENT_FAILED' | 'AGENT_TIMEOUT',
  message: string,
  usage: Usage | undefined,
  options: EvsysErrorOptions = {},
): EvsysError {
  return withUsage(new EvsysError(code, message, options), usage)
}

/** Notes on an error what was spent before it. */
export function withUsage<E>(error: E, usage: Usage | undefined): E {
  if (usage !== undefined && typeof error === 'object' && error !== null)
    Object.defineProperty(error, spent, { value: usage, configurable: true })
  return error
}

/** What was spent before an error; undefined: nothing that is known. */
export function usageOfError(error: unknown): Usage | undefined {
  return typeof error === 'object' && error !== null ? Reflect.get(error, spent) : undefined
}

/** Two answers as one. The cost of the sum is unknown where that of a part is. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const cached =
    a.cachedPromptTokens === undefined ? b.cachedPromptTokens : a.cachedPromptTokens + (b.cachedPromptTokens ?? 0)
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    ...(cached === undefined ? {} : { cachedPromptTokens: cached }),
    latencyS: a.latencyS + b.latencyS,
    ...(a.costUsd === undefined || b.costUsd === undefined ? {} : { costUsd: sumUsd([a.costUsd, b.costUsd]) }),
  }
}
