import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { TokenPrice } from '../../contracts/index.ts'
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
  const { models } = priceList()
  const table = provider !== undefined && Object.hasOwn(models, provider) ? models[provider] : undefined
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

/** `long`: another price for whole requests whose prompt is longer than `above` tokens. */
const ListPrice = TokenPrice.extend({ long: TokenPrice.extend({ above: z.int() }).optional() })

// List prices of text models in dollars for a million tokens, frozen on one day: a score's cost does not change because a price did.
// Source: @pydantic/genai-prices 0.1.8 (MIT), which cites the price pages of the providers; standard tier, no batch discount. Models that it
// does not have yet: of Anthropic by the bill of Claude Code 2.1.325, of OpenAI as public sources cite its price page.
const PriceList = z.strictObject({
  date: z.iso.date(),
  /** By provider, then by model without its date. A model that is not here has no known price. */
  models: z.record(z.string(), z.record(z.string(), ListPrice)),
})
let listed: z.infer<typeof PriceList> | undefined

/** The list in models/prices.json, read when it is first asked for. */
export function priceList(): z.infer<typeof PriceList> {
  listed ??= PriceList.parse(JSON.parse(readFileSync(new URL('../../../models/prices.json', import.meta.url), 'utf8')))
  return listed
}
