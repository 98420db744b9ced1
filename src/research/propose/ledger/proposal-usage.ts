// What a proposal cost, also where it failed: usage of several answers as one, and beside an error.
import type { Usage } from '../../../contracts/index.ts'
import { EvsysError, type EvsysErrorOptions } from '../../../kernel/index.ts'

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
    cachedPromptTokens: cached,
    latencyS: a.latencyS + b.latencyS,
    costUsd: a.costUsd === undefined || b.costUsd === undefined ? undefined : sumUsd(a.costUsd, b.costUsd),
  }
}

// Dollars are added as whole billionths, so that a sum is the same in any order and right to the last digit of any price table.
function sumUsd(a: number, b: number): number {
  return (Math.round(a * 1e9) + Math.round(b * 1e9)) / 1e9
}
