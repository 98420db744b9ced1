import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holm } from './multiple-comparisons.ts'

// Benjamini and Hochberg (1995), section 3.2: fifteen endpoints of a trial of thrombolysis.
const thrombolysis = [
  0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1,
]
const pValues = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })

describe('holm', () => {
  it('adjusts as worked out by hand (STA-5)', () => {
    // 4 x 0.01, 3 x 0.013, 2 x 0.014 raised to the one before, 1 x 0.19.
    expect(holm([0.014, 0.01, 0.19, 0.013]).map((p) => Number(p.toFixed(6)))).toEqual([0.04, 0.04, 0.19, 0.04])
  })

  it('rejects three of the thrombolysis endpoints at 5 %, as sequential Bonferroni does (STA-5)', () => {
    expect(holm(thrombolysis).filter((p) => p <= 0.05)).toHaveLength(3)
    expect(holm(thrombolysis)[0]).toBeCloseTo(0.0015, 12)
    expect(holm(thrombolysis)[3]).toBeCloseTo(0.114, 12)
  })

  it('stays between raw and Bonferroni, keeps the order, follows its places (STA-5)', () => {
    fc.assert(
      fc.property(pValues, (raw) => {
        const adjusted = holm(raw)
        for (const [i, p] of raw.entries()) {
          expect(adjusted[i]).toBeGreaterThanOrEqual(p)
          expect(adjusted[i]).toBeLessThanOrEqual(Math.min(1, raw.length * p))
          for (const [j, q] of raw.entries()) {
            if (p < q) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] ?? Number.NaN)
          }
        }
        expect(holm([...raw].reverse()).reverse()).toEqual(adjusted)
      }),
    )
  })

  it.each([-0.1, 1.1, Number.NaN])('refuses %d (STA-5)', (p) => {
    expect(() => holm([p])).toThrow(RangeError)
  })
})
