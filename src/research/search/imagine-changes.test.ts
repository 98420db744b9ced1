import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Knobs } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { imagineChanges } from './imagine-changes.ts'

const space = {
  a: { kind: 'choice', values: ['x', 'y', 'z'], ordered: false },
  b: { kind: 'choice', values: [1, 2], ordered: true },
  rate: { kind: 'range', low: 1e-4, high: 1, log: true, integer: false },
  width: { kind: 'range', low: 2, high: 8, log: false, integer: true },
  fixed: { kind: 'choice', values: ['only'], ordered: false },
} satisfies Parameters<typeof imagineChanges>[0]['space']
const base: Knobs = { a: 'x', b: 1, rate: 0.01, width: 4, fixed: 'only', other: 'kept' }

describe('imagineChanges', () => {
  it('turns one to three knobs within what they may be, and no other (RES-114)', () => {
    fc.assert(
      fc.property(fc.nat(1000), (seed) => {
        const changes = imagineChanges({ space, base, count: 20, random: keyedRandom(seed, 'imagine') })
        expect(changes).toHaveLength(20)
        expect(new Set(changes.map((knobs) => JSON.stringify(knobs))).size).toBeGreaterThan(5)
        for (const { a, b, rate, width, ...rest } of changes) {
          expect(rest).toEqual({ fixed: 'only', other: 'kept' })
          expect(space.a.values).toContain(a)
          expect(space.b.values).toContain(b)
          expect(rate).toBeGreaterThanOrEqual(1e-4)
          expect(rate).toBeLessThanOrEqual(1)
          expect([2, 3, 4, 5, 6, 7, 8]).toContain(width)
          const turned = [a !== base.a, b !== base.b, rate !== base.rate, width !== base.width].filter(Boolean)
          expect(turned.length).toBeLessThanOrEqual(3)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('takes the values of a partner where it differs (RES-114)', () => {
    const partner = { ...base, a: 'z', rate: 0.5 }
    for (const { a, rate } of imagineChanges({ space, base, partner, count: 50, random: keyedRandom(1, 'imagine') })) {
      expect(['x', 'z']).toContain(a)
      expect([0.01, 0.5]).toContain(rate)
    }
  })

  it('imagines nothing where no knob can be turned (RES-114)', () => {
    const random = keyedRandom(1, 'imagine')
    expect(imagineChanges({ space: {}, base, count: 5, random })).toEqual([])
    expect(imagineChanges({ space, base: { fixed: 'only' }, count: 5, random })).toEqual([])
  })
})
