import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  capAgainst,
  forecastCall,
  inCents,
  ledgerEntry,
  lostEntry,
  sumLedger,
  sumUsd,
  unknownCallUsd,
} from './ledger.ts'

const usage = (promptTokens: number, completionTokens: number, costUsd?: number) => ({
  promptTokens,
  completionTokens,
  latencyS: 1,
  ...(costUsd === undefined ? {} : { costUsd }),
})

describe('the ledger', () => {
  it('adds dollars exactly, in any order (RES-509)', () => {
    expect(sumUsd([0.1, 0.2])).toBe(0.3)
    const cost = fc.integer({ min: 0, max: 5_000_000 }).map((tokens) => (tokens * 0.8) / 1_000_000)
    fc.assert(
      fc.property(fc.array(cost, { maxLength: 50 }), (costs) => {
        const sum = sumUsd(costs)
        expect(sumUsd([...costs].reverse())).toBe(sum)
        expect(sum).toBe(sumUsd([sumUsd(costs.slice(0, 7)), sumUsd(costs.slice(7))]))
      }),
    )
  })

  it('charges calls whose cost nobody knows what the next call may cost (RES-509)', () => {
    const entries = [
      ledgerEntry('1', usage(1000, 100, 0.0045)),
      ledgerEntry('2', usage(500, 50)),
      lostEntry('3'),
      ledgerEntry('4', undefined),
    ]
    const forecast = forecastCall(entries, { promptTokens: 2000, maxTokens: 1000, price: { input: 3, output: 15 } })
    expect(forecast).toEqual({ tokens: 3000, usd: 0.021 })
    expect(sumLedger(entries, forecast)).toEqual({
      calls: 3,
      tokens: 1650 + 3000,
      knownUsd: 0.0045,
      assumedUsd: 0.042,
      usd: 0.0465,
      unpriced: 1,
      lost: 1,
    })
  })

  it('forecasts without a price by the dearest call, and without any call by a stated sum (RES-509)', () => {
    expect(forecastCall([])).toEqual({ tokens: 0, usd: unknownCallUsd })
    expect(forecastCall([ledgerEntry('1', usage(10, 5, 0.02)), ledgerEntry('2', usage(90, 10, 0.01))])).toEqual({
      tokens: 100,
      usd: 0.02,
    })
  })

  it('names the cap that the next call would break, and never lets one be broken (RES-509)', () => {
    const total = { usd: 0.98, tokens: 900 }
    expect(capAgainst(total, { usd: 0.02, tokens: 50 }, { usd: 1 })).toBeUndefined()
    expect(capAgainst(total, { usd: 0.03, tokens: 50 }, { usd: 1 })).toEqual({
      cap: 'usd',
      text: '$0.98 of $1.00 is spent, and the next call may cost $0.0300',
    })
    expect(capAgainst(total, { usd: 0.01, tokens: 101 }, { usd: 1, tokens: 1000 })?.cap).toBe('tokens')
    expect(inCents(12.345)).toBe('$12.35')
  })
})
