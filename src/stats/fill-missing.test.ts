import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillMissing } from './fill-missing.ts'

describe('fillMissing', () => {
  it('restores what is additive exactly, wherever the holes are (STA-14)', () => {
    const effects = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(effects, effects, fc.array(fc.nat(), { maxLength: 12 }), (rows, columns, holes) => {
        const full = rows.map((row) => columns.map((column) => row + column))
        // Row 0 and column 0 stay whole, so that all is linked.
        const holed = full.map((row, s) =>
          row.map((value, t) =>
            s > 0 && t > 0 && holes.some((h) => h % (rows.length * columns.length) === s * columns.length + t)
              ? null
              : value,
          ),
        )
        for (const [s, row] of fillMissing(holed).entries()) {
          for (const [t, value] of row.entries()) expect(value).toBeCloseTo(full[s]?.[t] ?? Number.NaN, 9)
        }
      }),
    )
  })

  it('gives Yates’ value for one missing plot (STA-14)', () => {
    // Yates (1933): x = (r R + c C - G) / ((r - 1)(c - 1)) with totals of the rest: rows 3, columns 3, R = 7 + 5, C = 4 + 6, G = 45.
    const filled = fillMissing([
      [null, 7, 5],
      [4, 8, 3],
      [6, 9, 3],
    ])
    expect(filled[0]?.[0]).toBeCloseTo((3 * 12 + 3 * 10 - 45) / 4, 12)
  })

  it('leaves a complete table as it is (STA-14)', () => {
    expect(
      fillMissing([
        [0.1, 0.2],
        [0.3, 0.7],
      ]),
    ).toEqual([
      [0.1, 0.2],
      [0.3, 0.7],
    ])
  })

  it('refuses tables that fall apart (STA-14)', () => {
    expect(() =>
      fillMissing([
        [1, null],
        [null, 1],
      ]),
    ).toThrow(/not linked/)
    expect(() =>
      fillMissing([
        [1, null],
        [1, null],
      ]),
    ).toThrow(/empty/)
  })
})
