import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AdvantageKind } from './advantages.ts'
import { turnAdvantages, turnReturns } from './turn-returns.ts'

const attempt = fc.record({ reward: fc.integer({ min: -2, max: 2 }), turns: fc.integer({ min: 1, max: 5 }) })
const group = fc.array(attempt, { minLength: 2, maxLength: 6 })
const kind = fc.constantFrom(...AdvantageKind.options)

describe('credit of turns', () => {
  it('counts a reward for the turns before it, less for each turn in between (RL-103)', () => {
    expect(turnReturns({ reward: 1, turns: 3 }, 0.5)).toEqual([0.25, 0.5, 1])
    expect(turnReturns({ reward: 1, turns: 3, turnRewards: [0.2, 0, 0.4] }, 0.5)).toEqual([0.55, 0.7, 1.4])
    expect(turnReturns({ reward: 1, turns: 2, turnRewards: [0.5] }, 0)).toEqual([0.5, 1])
    expect(turnReturns({ reward: 1, turns: 0 }, 1)).toEqual([])
  })

  it('is that of the trajectory where rewards come last and keep their worth (RL-103)', () => {
    fc.assert(
      fc.property(group, kind, (attempts, advantage) => {
        const by = (credit: 'turn' | 'trajectory') => turnAdvantages(attempts, { advantage, credit, discount: 1 })
        expect(by('turn')).toEqual(by('trajectory'))
      }),
    )
  })

  it('has one advantage for each turn, and none for attempts that do not differ (RL-103)', () => {
    fc.assert(
      fc.property(group, kind, fc.double({ min: 0, max: 1, noNaN: true }), (attempts, advantage, discount) => {
        const advantages = turnAdvantages(attempts, { advantage, credit: 'turn', discount })
        expect(advantages.map(({ length }) => length)).toEqual(attempts.map(({ turns }) => turns))
      }),
    )
    const twins = Array.from({ length: 3 }, () => ({ reward: 0.1, turns: 2, turnRewards: [0.3, 0.7] }))
    for (const advantage of ['mean', 'mean_std', 'leave_one_out'] as const) {
      expect(turnAdvantages(twins, { advantage, credit: 'turn', discount: 0.9 }).flat()).toEqual(new Array(6).fill(0))
    }
  })

  it('sets each turn against the same turn of the others (RL-103)', () => {
    const attempts = [
      { reward: 0, turns: 2, turnRewards: [1, 0] },
      { reward: 0, turns: 2, turnRewards: [0, 1] },
    ]
    expect(turnAdvantages(attempts, { advantage: 'mean', credit: 'turn', discount: 0 })).toEqual([
      [0.5, -0.5],
      [-0.5, 0.5],
    ])
  })
})
