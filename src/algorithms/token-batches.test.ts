import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyedRandom } from '../kernel/index.ts'
import { createTokenBatches } from './token-batches.ts'

const of = (lengths: readonly number[], budget: number, seed = 1) =>
  createTokenBatches({ lengths, budget, random: (epoch) => keyedRandom(seed, 'batches', epoch) })

describe('batches by tokens', () => {
  it('hold every row with tokens once per epoch, within the budget unless a row alone is over it (PLG-20)', () => {
    const lengths = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        lengths,
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 3 }),
        (tokens, budget, epochs) => {
          const batches = of(tokens, budget)
          const rows = Array.from({ length: batches.count(epochs) }, (_, i) => batches.rowsOf(i))
          for (const batch of rows) {
            const total = batch.reduce((sum, row) => sum + (tokens[row] ?? 0), 0)
            expect(batch.length === 1 || total <= budget).toBe(true)
          }
          const wanted = tokens.flatMap((length, row) =>
            length === 0 ? [] : Array.from({ length: epochs }, () => row),
          )
          expect(rows.flat().sort((a, b) => a - b)).toEqual(wanted)
        },
      ),
    )
  })

  it('follow from seed and number alone, and go on beyond the last epoch (PLG-20)', () => {
    const lengths = Array.from({ length: 30 }, (_, i) => (i % 7) + 1)
    const batches = of(lengths, 12)
    const late = batches.rowsOf(50)
    expect(late.length).toBeGreaterThan(0)
    expect(of(lengths, 12).rowsOf(50)).toEqual(late)
    const first = (seed: number) => Array.from({ length: 5 }, (_, i) => of(lengths, 12, seed).rowsOf(i))
    expect(first(1)).not.toEqual(first(2))
  })

  it('are empty where no row has tokens (PLG-20)', () => {
    expect(of([0, 0], 5).rowsOf(3)).toEqual([])
    expect(of([0, 0], 5).count(2)).toBe(0)
  })
})
