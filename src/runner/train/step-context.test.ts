import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keyedRandom } from '../../kernel/index.ts'
import { createBatchOrder } from './step-context.ts'

const orderOf = (rows: number, seed = 1) => createBatchOrder(rows, (epoch) => keyedRandom(seed, 'batches', epoch))

describe('the rows of a step', () => {
  it('are every row once per epoch, each epoch in an order of its own (LAB-40)', () => {
    const order = orderOf(12)
    const epoch = (n: number) => [0, 1, 2].flatMap((i) => order.rowsOf(n * 3 + i, 4))
    for (const n of [0, 1, 2]) expect(epoch(n).toSorted((a, b) => a - b)).toEqual([...Array(12).keys()])
    expect(epoch(0)).not.toEqual(epoch(1))
    expect(epoch(1)).not.toEqual(epoch(2))
  })

  it('follow from its number alone, so that a resumed run sees the rows it would have seen (LAB-40)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 1, maxLength: 20 }),
        (rows, size, steps) => {
          const used = orderOf(rows)
          for (const step of steps) expect(used.rowsOf(step, size)).toEqual(orderOf(rows).rowsOf(step, size))
        },
      ),
    )
  })

  it('come in the order of the data where they are asked to, in every epoch (LAB-600)', () => {
    const given = createBatchOrder(6, (epoch) => keyedRandom(1, 'batches', epoch), 'given')
    expect([0, 1, 2, 3].map((step) => given.rowsOf(step, 3))).toEqual([
      [0, 1, 2],
      [3, 4, 5],
      [0, 1, 2],
      [3, 4, 5],
    ])
  })

  it('go round within data that is smaller than a batch (LAB-40)', () => {
    const rows = orderOf(2).rowsOf(5, 5)
    expect(rows).toHaveLength(5)
    expect(new Set(rows)).toEqual(new Set([0, 1]))
  })

  it('W5: differ between seeds (LAB-40)', () => {
    expect(orderOf(50, 1).rowsOf(0, 10)).not.toEqual(orderOf(50, 2).rowsOf(0, 10))
  })
})
