import type { TokenPrice } from '../../contracts/index.ts'
import type { TokenCounts } from './wire-format.ts'

/** Dollars for these tokens. What is read from a cache or written to one has its own price, where there is one. */
export function costOf({ prompt, completion, cacheRead = 0, cacheWrite = 0 }: TokenCounts, price: TokenPrice): number {
  const { input, output, cache_read = input, cache_write = input } = price
  const fresh = Math.max(0, prompt - cacheRead - cacheWrite)
  return (fresh * input + cacheRead * cache_read + cacheWrite * cache_write + completion * output) / 1_000_000
}

// What providers put behind a name without changing the price: a date, `latest`, a number of a revision.
const revision = /[-@](latest|\d{8}|\d{4}-\d{2}-\d{2}|\d{3})$/

/**
 * The price of a model of a provider for a prompt of this length; of several names of one model, the first that is known.
 * undefined: unknown, which is not free.
 */
export function findPrice(
  provider: string | undefined,
  promptTokens: number,
  ...names: readonly (string | undefined)[]
): TokenPrice | undefined {
  const table: Readonly<Record<string, ListPrice>> | undefined =
    provider !== undefined && isProvider(provider) ? priceTable[provider] : undefined
  if (table === undefined) return undefined
  const known = names
    .filter((name) => name !== undefined)
    .flatMap((name) => [name, name.replace(revision, '')])
    .find((name) => Object.hasOwn(table, name))
  if (known === undefined) return undefined
  const { long, ...price } = table[known] ?? { input: 0, output: 0 } // it has one
  if (long === undefined || promptTokens <= long.above) return price
  const { above: _above, ...longPrice } = long
  return longPrice
}

function isProvider(name: string): name is keyof typeof priceTable {
  return Object.hasOwn(priceTable, name)
}

// List prices of text models in dollars for a million tokens, frozen on one day: a score's cost does not change because a price did.
// Source: @pydantic/genai-prices 0.1.8 (MIT), which cites the price pages of the providers; standard tier, no batch discount. Models that it
// does not have yet: of Anthropic by the bill of Claude Code 2.1.325, of OpenAI as public sources cite its price page.
/** The day whose prices these are. */
export const pricesOf = '2026-11-15'

/** Another price for whole requests whose prompt is longer than `above` tokens. */
export type ListPrice = TokenPrice & { readonly long?: (TokenPrice & { readonly above: number }) | undefined }

/** By provider, then by model without its date. A model that is not here has no known price. */
export const priceTable = {
  anthropic: {
    'claude-3-5-haiku': { input: 0.8, output: 4, cache_read: 0.08, cache_write: 1 },
    'claude-3-5-sonnet': { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
    'claude-3-7-sonnet': { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
    'claude-fable-5': { input: 10, output: 50, cache_read: 1, cache_write: 12.5 },
    'claude-fable-5-1': { input: 10, output: 50, cache_read: 0.25, cache_write: 12.5 },
    'claude-fable-5-2': { input: 8, output: 40, cache_read: 0.2, cache_write: 10 },
    'claude-haiku-4-5': { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 },
    'claude-haiku-5-5': {
      input: 0.1,
      output: 0.5,
      cache_read: 0.01,
      cache_write: 0.125,
      long: { above: 100000, input: 0.5, output: 2.5, cache_read: 0.05, cache_write: 0.625 },
    },
    'claude-mythos-5': { input: 10, output: 50, cache_read: 1, cache_write: 12.5 },
    'claude-mythos-5-1': { input: 10, output: 50, cache_read: 0.25, cache_write: 12.5 },
    'claude-mythos-5-2': { input: 8, output: 40, cache_read: 0.2, cache_write: 10 },
    'claude-opus-4-0': { input: 15, output: 75, cache_read: 1.5, cache_write: 18.75 },
    'claude-opus-4-1': { input: 15, output: 75, cache_read: 1.5, cache_write: 18.75 },
    'claude-opus-4-5': { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 },
    'claude-opus-4-6': { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 },
    'claude-opus-4-7': { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 },
    'claude-opus-4-8': { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 },
    'claude-opus-5': { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25 },
    'claude-opus-5-5': { input: 4, output: 20, cache_read: 0.2, cache_write: 5 },
    'claude-sonnet-4-0': { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
    'claude-sonnet-4-5': {
      input: 3,
      output: 15,
      cache_read: 0.3,
      cache_write: 3.75,
      long: { above: 200000, input: 6, output: 22.5, cache_read: 0.6, cache_write: 7.5 },
    },
    'claude-sonnet-4-6': { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
    'claude-sonnet-5': { input: 2, output: 10, cache_read: 0.2, cache_write: 2.5 },
    'claude-sonnet-5-5': { input: 2, output: 10, cache_read: 0.1, cache_write: 2.5 },
  },
  openai: {
    'gpt-4.1': { input: 2, output: 8, cache_read: 0.5 },
    'gpt-4.1-mini': { input: 0.4, output: 1.6, cache_read: 0.1 },
    'gpt-4.1-nano': { input: 0.1, output: 0.4, cache_read: 0.025 },
    'gpt-4o': { input: 2.5, output: 10, cache_read: 1.25 },
    'gpt-4o-2024-05-13': { input: 5, output: 15 },
    'gpt-4o-mini': { input: 0.15, output: 0.6, cache_read: 0.075 },
    'gpt-5': { input: 1.25, output: 10, cache_read: 0.125 },
    'gpt-5-mini': { input: 0.25, output: 2, cache_read: 0.025 },
    'gpt-5-nano': { input: 0.05, output: 0.4, cache_read: 0.005 },
    'gpt-5-pro': { input: 15, output: 120 },
    'gpt-5.1': { input: 1.25, output: 10, cache_read: 0.125 },
    'gpt-5.2': { input: 1.75, output: 14, cache_read: 0.175 },
    'gpt-5.2-pro': { input: 21, output: 168 },
    'gpt-5.3': { input: 1.75, output: 14, cache_read: 0.175 },
    'gpt-5.4': {
      input: 2.5,
      output: 15,
      cache_read: 0.25,
      long: { above: 271999, input: 5, output: 22.5, cache_read: 0.5 },
    },
    'gpt-5.4-mini': { input: 0.75, output: 4.5, cache_read: 0.075 },
    'gpt-5.4-nano': { input: 0.2, output: 1.25, cache_read: 0.02 },
    'gpt-5.4-pro': { input: 30, output: 180, long: { above: 271999, input: 60, output: 270 } },
    'gpt-5.5': { input: 5, output: 30, cache_read: 0.5, long: { above: 271999, input: 10, output: 45, cache_read: 1 } },
    'gpt-5.5-pro': { input: 30, output: 180, long: { above: 271999, input: 60, output: 270 } },
    'gpt-5.6-luna': {
      input: 0.2,
      output: 1.2,
      cache_read: 0.02,
      cache_write: 0.25,
      long: { above: 271999, input: 0.4, output: 1.8, cache_read: 0.04, cache_write: 0.5 },
    },
    'gpt-5.6-sol': {
      input: 4,
      output: 20,
      cache_read: 0.4,
      cache_write: 5,
      long: { above: 271999, input: 8, output: 30, cache_read: 0.8, cache_write: 10 },
    },
    'gpt-5.6-terra': {
      input: 2,
      output: 12,
      cache_read: 0.2,
      cache_write: 2.5,
      long: { above: 271999, input: 4, output: 18, cache_read: 0.4, cache_write: 5 },
    },
    'gpt-6-astra': {
      input: 10,
      output: 50,
      cache_read: 1,
      cache_write: 12.5,
      long: { above: 271999, input: 20, output: 75, cache_read: 2, cache_write: 25 },
    },
    'gpt-6-luna': {
      input: 0.1,
      output: 0.5,
      cache_read: 0.01,
      cache_write: 0.125,
      long: { above: 272000, input: 0.2, output: 0.75, cache_read: 0.02, cache_write: 0.25 },
    },
    'gpt-6-sol': {
      input: 2,
      output: 10,
      cache_read: 0.2,
      cache_write: 2.5,
      long: { above: 272000, input: 4, output: 15, cache_read: 0.4, cache_write: 5 },
    },
    'gpt-6.1-sol': {
      input: 2,
      output: 10,
      cache_read: 0.1,
      cache_write: 2.5,
      long: { above: 272000, input: 4, output: 15, cache_read: 0.2, cache_write: 5 },
    },
    'gpt-chat': { input: 5, output: 30, cache_read: 0.5 },
    o1: { input: 15, output: 60, cache_read: 7.5 },
    'o1-mini': { input: 1.1, output: 4.4, cache_read: 0.55 },
    'o1-preview': { input: 15, output: 60, cache_read: 7.5 },
    'o1-pro': { input: 150, output: 600 },
    o3: { input: 2, output: 8, cache_read: 0.5 },
    'o3-mini': { input: 1.1, output: 4.4, cache_read: 0.55 },
    'o3-pro': { input: 20, output: 80 },
    'o4-mini': { input: 1.1, output: 4.4, cache_read: 0.275 },
  },
  google: {
    'gemini-2.0-flash': { input: 0.1, output: 0.4, cache_read: 0.025 },
    'gemini-2.0-flash-lite': { input: 0.075, output: 0.3 },
    'gemini-2.5-flash': { input: 0.3, output: 2.5, cache_read: 0.03 },
    'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cache_read: 0.01 },
    'gemini-2.5-pro': {
      input: 1.25,
      output: 10,
      cache_read: 0.125,
      long: { above: 200000, input: 2.5, output: 15, cache_read: 0.25 },
    },
    'gemini-3-flash-preview': { input: 0.5, output: 3, cache_read: 0.05 },
    'gemini-3-pro-preview': {
      input: 2,
      output: 12,
      cache_read: 0.2,
      long: { above: 200000, input: 4, output: 18, cache_read: 0.4 },
    },
    'gemini-3.1-flash-lite': { input: 0.25, output: 1.5, cache_read: 0.025 },
    'gemini-3.1-pro-preview': {
      input: 2,
      output: 12,
      cache_read: 0.2,
      long: { above: 200000, input: 4, output: 18, cache_read: 0.4 },
    },
    'gemini-3.5-flash': { input: 1.5, output: 9, cache_read: 0.15 },
    'gemini-3.5-flash-lite': { input: 0.3, output: 2.5, cache_read: 0.03 },
    'gemini-3.6-flash': { input: 0.75, output: 3.75, cache_read: 0.075 },
    'gemini-3.7-flash': { input: 0.75, output: 3.75, cache_read: 0.075 },
    'gemini-3.8-flash': { input: 0.75, output: 3.75, cache_read: 0.075 },
  },
} as const satisfies Record<string, Record<string, ListPrice>>
