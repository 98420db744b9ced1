import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialResearchState, type ResearchState, reduceResearch } from '../../contracts/index.ts'
import { addUsage } from '../propose/ledger/proposal-usage.ts'
import { capInTheWay, capOnCall, forecastOf } from './session-budget.ts'

type Calls = ResearchState['calls']

const paid = (costUsd: number, tokens: number) => ({ status: 'answered', costUsd, tokens })
const open = (usd: number, tokens: number) => ({ status: 'open', intent: { forecast: { usd, tokens } } })
const sessionOf = (budget: object, spend: object, calls: readonly object[] = []) => ({
  ...initialResearchState,
  settings: { budget } as ResearchState['settings'],
  spend: { ...initialResearchState.spend, ...spend },
  calls: calls as Calls, // as far as caps and forecasts read them
})

describe('the budget of a session', () => {
  it('adds dollars exactly, in any order (RES-509)', () => {
    const usage = (costUsd: number) => ({ promptTokens: 1, completionTokens: 1, latencyS: 0, costUsd })
    const sumUsd = (costs: readonly number[]) => costs.map(usage).reduce(addUsage, undefined)?.costUsd ?? 0
    expect(sumUsd([0.1, 0.2])).toBe(0.3)
    const cost = fc.integer({ min: 0, max: 5_000_000 }).map((tokens) => (tokens * 1000) / 1e9)
    fc.assert(
      fc.property(fc.array(cost, { minLength: 1, maxLength: 50 }), (costs) => {
        const sum = sumUsd(costs)
        expect(sumUsd([...costs].reverse())).toBe(sum)
        expect(sum).toBe(sumUsd([sumUsd(costs.slice(0, 7)), sumUsd(costs.slice(7))]))
      }),
    )
  })

  it('forecasts a call by the dearest of late, and before any by a stated sum; a call of no model is free (RES-509)', () => {
    expect(forecastOf(sessionOf({}, {}), true).call).toEqual({ usd: 0.05, tokens: 20_000 })
    expect(forecastOf(sessionOf({}, {}, [paid(0.02, 15), paid(0.01, 100)]), true).call).toEqual({
      usd: 0.02,
      tokens: 100,
    })
    expect(forecastOf(sessionOf({}, {}, [paid(0.02, 15)]), false).call).toEqual({ usd: 0, tokens: 0 })
  })

  it('charges a call that was never answered its forecast (RES-509)', () => {
    const at = '2026-01-01T00:00:00.000Z'
    const charged = { usd: 0.05, tokens: 3000 }
    const { spend } = reduceResearch(sessionOf({}, { usd: 0.1, tokens: 500 }, [{ call: 'c1', ...open(0.05, 3000) }]), {
      type: 'call.lost',
      call: 'c1',
      sending: 1,
      charged,
      at,
    })
    expect(spend).toMatchObject({ assumedUsd: 0.05, tokens: 3500, lostCalls: 1 })
    expect(spend.usd).toBeCloseTo(0.15, 12)
  })

  it('keeps the time that confirmation needs, and none that is not there any more (USE-25)', () => {
    const late = (wallS: number, reserved: number) =>
      capInTheWay(sessionOf({ wall: '100s' }, { runs: 10, runS: 20, wallS }), 0, false, reserved)
    expect([late(50, 12), late(71, 12), late(75, 12)]).toEqual([undefined, undefined, 'wall'])
    expect([late(75, 0), late(80, 12), late(99, 12), late(99, 0)]).toEqual([undefined, undefined, 'wall', 'wall'])
  })

  it('names the cap that the next call would break, with those that are open booked (RES-509)', () => {
    const spent = { usd: 0.98, tokens: 900 }
    expect(capOnCall(sessionOf({ usd: 1 }, spent), { usd: 0.02, tokens: 50 })).toBeUndefined()
    expect(capOnCall(sessionOf({ usd: 1 }, spent), { usd: 0.03, tokens: 50 })).toBe('usd')
    expect(capOnCall(sessionOf({ usd: 1 }, spent, [open(0.02, 10)]), { usd: 0.01, tokens: 50 })).toBe('usd')
    expect(capOnCall(sessionOf({ usd: 1, tokens: 1000 }, spent), { usd: 0.01, tokens: 101 })).toBe('tokens')
  })
})
