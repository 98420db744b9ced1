// What the calls of a session cost: entries, sums, forecasts, caps. Pure. Dollars are added as whole billionths, so that a sum is the
// same in any order and right to the last digit of any price table.
import type { TokenPrice, Usage } from '../../../contracts/index.ts'
import { EvsysError, type EvsysErrorOptions } from '../../../kernel/index.ts'

/**
 * One call. `known`: its price is. `unpriced`: it was answered by a model without a price. `lost`: it was sent, and no one knows
 * whether it was answered. `free`: no model was asked, or a recording answered.
 */
interface LedgerEntry {
  readonly call: string
  readonly status: 'known' | 'unpriced' | 'lost' | 'free'
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costUsd?: number | undefined
}

interface LedgerTotal {
  readonly calls: number
  readonly tokens: number
  /** Of calls whose cost is known. */
  readonly knownUsd: number
  /** What the others are charged. */
  readonly assumedUsd: number
  /** All that counts against a cap. */
  readonly usd: number
  readonly unpriced: number
  readonly lost: number
}

/** What one call is expected to take at most. */
interface CallForecast {
  readonly tokens: number
  readonly usd: number
}

interface LedgerCaps {
  readonly usd?: number | undefined
  readonly tokens?: number | undefined
}

/** Charged for a call of which nothing is known: no price, no limit, no call before it. More than all but the longest calls cost. */
export const unknownCallUsd = 0.25

/** The entry of a call that was answered. Without usage no model was asked. */
export function ledgerEntry(call: string, usage: Usage | undefined): LedgerEntry {
  if (usage === undefined) return { call, status: 'free', promptTokens: 0, completionTokens: 0 }
  const { promptTokens, completionTokens, costUsd } = usage
  if (costUsd === undefined) return { call, status: 'unpriced', promptTokens, completionTokens }
  return { call, status: costUsd === 0 ? 'free' : 'known', promptTokens, completionTokens, costUsd }
}

/** The entry of a call that was sent and never heard of again. */
export function lostEntry(call: string): LedgerEntry {
  return { call, status: 'lost', promptTokens: 0, completionTokens: 0 }
}

/** The sum of a ledger. Calls whose cost is unknown are charged the forecast. */
export function sumLedger(entries: readonly LedgerEntry[], forecast: CallForecast): LedgerTotal {
  const count = (status: LedgerEntry['status']) => entries.filter((entry) => entry.status === status).length
  const known = sumUsd(entries.map(({ costUsd = 0 }) => costUsd))
  const unpriced = count('unpriced')
  const lost = count('lost')
  const assumed = fromNanos((unpriced + lost) * nanos(forecast.usd))
  const reported = entries.reduce((sum, entry) => sum + entry.promptTokens + entry.completionTokens, 0)
  return {
    calls: entries.filter(({ status }) => status !== 'free').length,
    tokens: reported + lost * forecast.tokens,
    knownUsd: known,
    assumedUsd: assumed,
    usd: sumUsd([known, assumed]),
    unpriced,
    lost,
  }
}

/**
 * What the next call takes at most: its prompt and the longest answer at the price of the model; without a price, as much as the
 * dearest call so far.
 */
export function forecastCall(
  entries: readonly LedgerEntry[],
  call: {
    readonly promptTokens?: number | undefined
    readonly maxTokens?: number | undefined
    readonly price?: TokenPrice | undefined
  } = {},
): CallForecast {
  const longest = Math.max(0, ...entries.map((entry) => entry.promptTokens + entry.completionTokens))
  const { promptTokens, maxTokens, price } = call
  const tokens = promptTokens === undefined || maxTokens === undefined ? longest : promptTokens + maxTokens
  if (price !== undefined && promptTokens !== undefined && maxTokens !== undefined) {
    const input = Math.max(price.input, price.cache_write ?? 0)
    return { tokens, usd: fromNanos(nanos((promptTokens * input + maxTokens * price.output) / 1_000_000)) }
  }
  const costs = entries.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]))
  return { tokens, usd: costs.length === 0 ? unknownCallUsd : Math.max(...costs) }
}

/** The cap that keeps the next call from being made; undefined: it may be made. */
export function capAgainst(
  total: Pick<LedgerTotal, 'usd' | 'tokens'>,
  next: CallForecast,
  caps: LedgerCaps,
): { readonly cap: 'usd' | 'tokens'; readonly text: string } | undefined {
  if (caps.usd !== undefined && nanos(total.usd) + nanos(next.usd) > nanos(caps.usd)) {
    const text = `${inCents(total.usd)} of ${inCents(caps.usd)} is spent, and the next call may cost ${inCents(next.usd)}`
    return { cap: 'usd', text }
  }
  if (caps.tokens !== undefined && total.tokens + next.tokens > caps.tokens) {
    const text = `${total.tokens} of ${caps.tokens} tokens are spent, and the next call may take ${next.tokens}`
    return { cap: 'tokens', text }
  }
  return undefined
}

/** Dollars added without the errors of binary fractions. */
export function sumUsd(amounts: readonly number[]): number {
  return fromNanos(amounts.reduce((sum, usd) => sum + nanos(usd), 0))
}

/** Dollars for people: to the cent, and finer where cents would say nothing. */
export function inCents(usd: number): string {
  return usd > 0 && usd < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`
}

function nanos(usd: number): number {
  return Math.round(usd * 1e9)
}

function fromNanos(amount: number): number {
  return amount / 1e9
}

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
    ...(a.costUsd === undefined || b.costUsd === undefined ? {} : { costUsd: sumUsd([a.costUsd, b.costUsd]) }),
  }
}
