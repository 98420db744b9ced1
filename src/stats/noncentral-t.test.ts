import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import reference from './fixtures/special-functions.json' with { type: 'json' }
import { noncentralTTail } from './noncentral-t.ts'
import { tTail } from './student-t.ts'

describe('noncentralTTail', () => {
  it.each(reference.noncentralTTail)(
    'at %d with df %d and delta %d agrees with 40 digits (STA-1)',
    (t = 0, df = 0, delta = 0, p = 0) => {
      expect(Math.abs(noncentralTTail(t, df, delta) - p)).toBeLessThan(1e-12)
    },
  )

  it('is Student’s t without an effect (STA-1)', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -20, max: 20, noNaN: true }),
        fc.double({ min: 1, max: 500, noNaN: true }),
        (t, df) => {
          expect(noncentralTTail(t, df, 0)).toBeCloseTo(tTail(t, df), 11)
        },
      ),
    )
  })

  it('rises with the effect (STA-1)', () => {
    fc.assert(
      fc.property(fc.double({ min: -5, max: 5, noNaN: true }), fc.integer({ min: 1, max: 50 }), (delta, df) => {
        expect(noncentralTTail(2, df, delta + 0.1)).toBeGreaterThan(noncentralTTail(2, df, delta) - 1e-12)
      }),
    )
  })

  it.each([
    [2, 3, 1e300, 1],
    [2, 3, -1e300, 0],
    [-1e12, 3, 0, 1],
    [636, 1, 1e4, 1],
  ])('is certain, not endless, at t = %d, df = %d, delta = %d (STA-1)', (t, df, delta, expected) => {
    expect(noncentralTTail(t, df, delta)).toBeCloseTo(expected, 9)
  })

  it('refuses what is no distribution', () => {
    expect(() => noncentralTTail(1, 0, 1)).toThrow(RangeError)
    expect(() => noncentralTTail(1, 3, Number.NaN)).toThrow(RangeError)
  })
})
