import { describe, expect, it } from 'vitest'
import { TokenPrice } from '../../contracts/index.ts'
import { costOf, findPrice, priceList } from './prices.ts'

describe('the price table', () => {
  it('is dated, and every price of it is one (INF-6)', () => {
    expect(priceList().date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    for (const models of Object.values(priceList().models)) {
      for (const [model, { long, ...price }] of Object.entries(models)) {
        expect(TokenPrice.safeParse(price).error, model).toBeUndefined()
        expect(long?.above ?? 128_000, model).toBeGreaterThanOrEqual(100_000)
      }
    }
  })

  it.each([
    ['anthropic', 'claude-sonnet-4-6', 3],
    ['anthropic', 'claude-haiku-4-5-20251001', 1],
    ['anthropic', 'claude-3-5-haiku-latest', 0.8],
    ['anthropic', 'claude-sonnet-5-5', 2],
    ['openai', 'gpt-6.1-sol', 2],
    ['openai', 'gpt-4o-2024-08-06', 2.5],
    ['openai', 'gpt-4o-2024-05-13', 5],
    ['google', 'gemini-2.0-flash-001', 0.1],
  ])('%s %s: %d dollars for a million tokens of prompt (INF-6)', (provider, model, input) => {
    expect(findPrice(provider, 10, model)?.input).toBe(input)
  })

  it('has no price for what it does not know: neither zero nor that of a relative (INF-6)', () => {
    for (const model of [
      'gpt-4o-audio-preview',
      'claude-sonnet-9',
      'gpt-4o-mini-tts',
      '',
      '__proto__',
      'constructor',
    ]) {
      expect(findPrice('openai', 10, model)).toBeUndefined()
      expect(findPrice('anthropic', 10, model)).toBeUndefined()
    }
    expect(findPrice(undefined, 10, 'gpt-4o')).toBeUndefined()
    expect(findPrice('toString', 10, 'gpt-4o')).toBeUndefined()
  })

  it('takes the name that the provider answered first, and the price of long prompts (INF-6)', () => {
    expect(findPrice('openai', 10, 'gpt-4o-mini', 'gpt-4o')?.input).toBe(0.15)
    expect(findPrice('openai', 10, 'unheard-of', 'gpt-4o')?.input).toBe(2.5)
    expect(findPrice('google', 200_000, 'gemini-2.5-pro')).toEqual({ input: 1.25, output: 10, cache_read: 0.125 })
    expect(findPrice('google', 200_001, 'gemini-2.5-pro')).toEqual({ input: 2.5, output: 15, cache_read: 0.25 })
  })

  it('what is cached costs its own price, or that of the rest (INF-6)', () => {
    const counts = { prompt: 1000, completion: 10, cacheRead: 400, cacheWrite: 100 }
    expect(costOf(counts, { input: 1, output: 2 })).toBeCloseTo(0.00102, 15)
    expect(costOf(counts, { input: 1, output: 2, cache_read: 0.1, cache_write: 1.25 })).toBeCloseTo(
      (500 + 40 + 125 + 20) / 1e6,
      15,
    )
  })
})
