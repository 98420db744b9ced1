import type { TokenPrice } from '../../contracts/index.ts'
import type { TokenCounts } from '../inference/wire-format.ts'

/** Dollars for these tokens. What is read from a cache or written to one has its own price, where there is one. */
export function costOf({ prompt, completion, cacheRead = 0, cacheWrite = 0 }: TokenCounts, price: TokenPrice): number {
  const { input, output, cache_read = input, cache_write = input } = price
  const fresh = Math.max(0, prompt - cacheRead - cacheWrite)
  return (fresh * input + cacheRead * cache_read + cacheWrite * cache_write + completion * output) / 1_000_000
}
