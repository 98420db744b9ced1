import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { datum } from '../../tests/tinker-clients.ts'
import { reduceMetrics, splitBatch } from './pass-data.ts'

describe('reduceMetrics', () => {
  it('reduces by the name after the colon, means by datum (TNK-14)', () => {
    const parts = [
      { datums: 3, metrics: { 'a:mean': 1, 'a:sum': 1, 'a:min': 1, 'a:max': 1, 'a:slack': 1, 'a:hash_unordered': 5 } },
      { datums: 1, metrics: { 'a:mean': 5, 'a:sum': 5, 'a:min': 5, 'a:max': 5, 'a:slack': 5, 'a:hash_unordered': 6 } },
    ]
    expect(reduceMetrics(parts)).toEqual({
      'a:mean': 2,
      'a:sum': 6,
      'a:min': 1,
      'a:max': 5,
      'a:slack': 3,
      'a:hash_unordered': 11,
    })
  })

  it('keeps unique values apart, leaves out what cannot be reduced, and one part alone (TNK-14)', () => {
    const parts = [
      { datums: 1, metrics: { 'u:unique': 1, 'x:new': 1, 'only:sum': 1, plain: 1 } },
      { datums: 1, metrics: { 'u:unique': 2, 'x:new': 1, plain: 1 } },
    ]
    expect(reduceMetrics(parts)).toEqual({ 'u:unique': 1, 'u:unique_1': 2 })
    expect(reduceMetrics(parts.slice(0, 1))).toEqual({ 'u:unique': 1, 'x:new': 1, 'only:sum': 1, plain: 1 })
    expect(reduceMetrics([])).toEqual({})
  })
})

describe('splitBatch', () => {
  it('keeps every datum, in order, within the limits (TNK-14)', () => {
    const lengths = fc.array(fc.integer({ min: 2, max: 40 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        lengths,
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 1, max: 2000 }),
        (all, maxDatums, maxBytes) => {
          const data = all.map((length) => datum(Array.from({ length }, (_, at) => at)))
          const parts = splitBatch(data, { maxDatums, maxBytes })
          expect(parts.flatMap((part) => part.data)).toEqual(data)
          for (const part of parts) {
            expect(part.data.length).toBeLessThanOrEqual(maxDatums)
            expect(part.sizeBytes <= maxBytes || part.data.length === 1).toBe(true)
            // 4 bytes a token, 8 a target, 4 a weight
            expect(part.sizeBytes).toBe(part.data.reduce((sum, { tokens }) => sum + 16 * tokens.length, 0))
          }
        },
      ),
    )
  })
})
