import { describe, expect, it } from 'vitest'
import { assessAblation } from './decide-end.ts'

const results = (...values: (number | null)[]) => values.map((value, seed) => ({ seed, value }))
const assess = (ablated: readonly (number | null)[], linesSaved: number) =>
  assessAblation({
    direction: 'min',
    ablated: results(...ablated),
    champion: results(1, 1),
    sigma: 0.1,
    linesSaved,
  })

describe('assessAblation', () => {
  it.each([
    ['missed', [1.1, 1.1], 9, false],
    ['not missed, and shorter without it', [1.01, 1], 9, true],
    ['not missed, but no shorter without it', [1.01, 1], 0, false],
    ['better without it', [0.9, 0.9], -3, true],
    ['not run without it', [1, null], 9, false],
    ['no number without it', [1, Number.NaN], 9, false],
    ['run on one seed', [1], 9, false],
  ] as const)('%s (RES-211)', (_name, ablated, linesSaved, drop) => {
    expect(assess(ablated, linesSaved).drop).toBe(drop)
  })

  it('says why (RES-211)', () => {
    expect(assess([1.01, 1], 9).words).toBe('Dropped: 0.1 sigma worse without it on 2 seeds, 9 lines fewer.')
    expect(assess([1.1, 1.1], 9).words).toBe('Stays: 1.4 sigma worse without it on 2 seeds.')
  })
})
