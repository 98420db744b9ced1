import type { TokenPrice } from '../../contracts/index.ts'
import { withoutUndefined } from '../../kernel/index.ts'
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

/** By provider, then by model without its date: input, output, cache read, cache write. A model that is not here has no known price. */
export const priceTable = {
  anthropic: {
    'claude-3-5-haiku': price(0.8, 4, 0.08, 1),
    'claude-3-5-sonnet': price(3, 15, 0.3, 3.75),
    'claude-3-7-sonnet': price(3, 15, 0.3, 3.75),
    'claude-fable-5': price(10, 50, 1, 12.5),
    'claude-fable-5-1': price(10, 50, 0.25, 12.5),
    'claude-fable-5-2': price(8, 40, 0.2, 10),
    'claude-haiku-4-5': price(1, 5, 0.1, 1.25),
    'claude-haiku-5-5': { ...price(0.1, 0.5, 0.01, 0.125), long: { above: 100_000, ...price(0.5, 2.5, 0.05, 0.625) } },
    'claude-mythos-5': price(10, 50, 1, 12.5),
    'claude-mythos-5-1': price(10, 50, 0.25, 12.5),
    'claude-mythos-5-2': price(8, 40, 0.2, 10),
    'claude-opus-4-0': price(15, 75, 1.5, 18.75),
    'claude-opus-4-1': price(15, 75, 1.5, 18.75),
    'claude-opus-4-5': price(5, 25, 0.5, 6.25),
    'claude-opus-4-6': price(5, 25, 0.5, 6.25),
    'claude-opus-4-7': price(5, 25, 0.5, 6.25),
    'claude-opus-4-8': price(5, 25, 0.5, 6.25),
    'claude-opus-5': price(5, 25, 0.5, 6.25),
    'claude-opus-5-5': price(4, 20, 0.2, 5),
    'claude-sonnet-4-0': price(3, 15, 0.3, 3.75),
    'claude-sonnet-4-5': { ...price(3, 15, 0.3, 3.75), long: { above: 200_000, ...price(6, 22.5, 0.6, 7.5) } },
    'claude-sonnet-4-6': price(3, 15, 0.3, 3.75),
    'claude-sonnet-5': price(2, 10, 0.2, 2.5),
    'claude-sonnet-5-5': price(2, 10, 0.1, 2.5),
  },
  openai: {
    'gpt-4.1': price(2, 8, 0.5),
    'gpt-4.1-mini': price(0.4, 1.6, 0.1),
    'gpt-4.1-nano': price(0.1, 0.4, 0.025),
    'gpt-4o': price(2.5, 10, 1.25),
    'gpt-4o-2024-05-13': price(5, 15),
    'gpt-4o-mini': price(0.15, 0.6, 0.075),
    'gpt-5': price(1.25, 10, 0.125),
    'gpt-5-mini': price(0.25, 2, 0.025),
    'gpt-5-nano': price(0.05, 0.4, 0.005),
    'gpt-5-pro': price(15, 120),
    'gpt-5.1': price(1.25, 10, 0.125),
    'gpt-5.2': price(1.75, 14, 0.175),
    'gpt-5.2-pro': price(21, 168),
    'gpt-5.3': price(1.75, 14, 0.175),
    'gpt-5.4': { ...price(2.5, 15, 0.25), long: { above: 271_999, ...price(5, 22.5, 0.5) } },
    'gpt-5.4-mini': price(0.75, 4.5, 0.075),
    'gpt-5.4-nano': price(0.2, 1.25, 0.02),
    'gpt-5.4-pro': { ...price(30, 180), long: { above: 271_999, ...price(60, 270) } },
    'gpt-5.5': { ...price(5, 30, 0.5), long: { above: 271_999, ...price(10, 45, 1) } },
    'gpt-5.5-pro': { ...price(30, 180), long: { above: 271_999, ...price(60, 270) } },
    'gpt-5.6-luna': { ...price(0.2, 1.2, 0.02, 0.25), long: { above: 271_999, ...price(0.4, 1.8, 0.04, 0.5) } },
    'gpt-5.6-sol': { ...price(4, 20, 0.4, 5), long: { above: 271_999, ...price(8, 30, 0.8, 10) } },
    'gpt-5.6-terra': { ...price(2, 12, 0.2, 2.5), long: { above: 271_999, ...price(4, 18, 0.4, 5) } },
    'gpt-6-astra': { ...price(10, 50, 1, 12.5), long: { above: 271_999, ...price(20, 75, 2, 25) } },
    'gpt-6-luna': { ...price(0.1, 0.5, 0.01, 0.125), long: { above: 272_000, ...price(0.2, 0.75, 0.02, 0.25) } },
    'gpt-6-sol': { ...price(2, 10, 0.2, 2.5), long: { above: 272_000, ...price(4, 15, 0.4, 5) } },
    'gpt-6.1-sol': { ...price(2, 10, 0.1, 2.5), long: { above: 272_000, ...price(4, 15, 0.2, 5) } },
    'gpt-chat': price(5, 30, 0.5),
    o1: price(15, 60, 7.5),
    'o1-mini': price(1.1, 4.4, 0.55),
    'o1-preview': price(15, 60, 7.5),
    'o1-pro': price(150, 600),
    o3: price(2, 8, 0.5),
    'o3-mini': price(1.1, 4.4, 0.55),
    'o3-pro': price(20, 80),
    'o4-mini': price(1.1, 4.4, 0.275),
  },
  google: {
    'gemini-2.0-flash': price(0.1, 0.4, 0.025),
    'gemini-2.0-flash-lite': price(0.075, 0.3),
    'gemini-2.5-flash': price(0.3, 2.5, 0.03),
    'gemini-2.5-flash-lite': price(0.1, 0.4, 0.01),
    'gemini-2.5-pro': { ...price(1.25, 10, 0.125), long: { above: 200_000, ...price(2.5, 15, 0.25) } },
    'gemini-3-flash-preview': price(0.5, 3, 0.05),
    'gemini-3-pro-preview': { ...price(2, 12, 0.2), long: { above: 200_000, ...price(4, 18, 0.4) } },
    'gemini-3.1-flash-lite': price(0.25, 1.5, 0.025),
    'gemini-3.1-pro-preview': { ...price(2, 12, 0.2), long: { above: 200_000, ...price(4, 18, 0.4) } },
    'gemini-3.5-flash': price(1.5, 9, 0.15),
    'gemini-3.5-flash-lite': price(0.3, 2.5, 0.03),
    'gemini-3.6-flash': price(0.75, 3.75, 0.075),
    'gemini-3.7-flash': price(0.75, 3.75, 0.075),
    'gemini-3.8-flash': price(0.75, 3.75, 0.075),
  },
} as const satisfies Record<string, Record<string, ListPrice>>

function price(input: number, output: number, cache_read?: number, cache_write?: number): TokenPrice {
  return withoutUndefined({ input, output, cache_read, cache_write })
}
