import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import type { Row } from '../../contracts/index.ts'
import { cap, sort } from './arrange-rows.ts'

const classes = fc.array(fc.record({ class: fc.constantFrom('a', 'b', 1, null), n: fc.nat(9) }), { maxLength: 40 })

describe('cap', () => {
  it.each(['random', 'first'] as const)(
    'keeps no more rows of a class than asked for, in their order: %s (PLG-600)',
    async (choose) => {
      await fc.assert(
        fc.asyncProperty(classes, fc.integer({ min: 1, max: 5 }), fc.nat(99), async (rows, most, seed) => {
          const numbered: Row[] = rows.map((row, at) => ({ ...row, at }))
          const kept = await apply(cap, { key: 'class', most, choose }, numbered, seed)
          expect(kept).toEqual(numbered.filter((row) => kept.some(({ at }) => at === row.at)))
          for (const value of ['a', 'b', 1, null]) {
            const there = numbered.filter((row) => row.class === value)
            const left = kept.filter((row) => row.class === value)
            expect(left).toHaveLength(Math.min(most, there.length))
            if (choose === 'first') expect(left).toEqual(there.slice(0, most))
          }
        }),
      )
    },
  )

  it('draws by the seed, and any row of a class may stay (PLG-600)', async () => {
    const rows = Array.from({ length: 8 }, (_, at) => ({ class: 'a', at }))
    const kept = async (seed: number) => (await apply(cap, { key: 'class', most: 1 }, rows, seed))[0]?.at
    const seen = await Promise.all(Array.from({ length: 60 }, (_, seed) => kept(seed)))
    expect(new Set(seen).size).toBeGreaterThan(6)
    expect(await kept(3)).toBe(seen[3])
  })

  it('names the field that a row lacks (PLG-600)', async () => {
    await expect(apply(cap, { key: 'clas', most: 1 }, [{ class: 'a' }])).rejects.toMatchObject({
      code: 'DATA_INVALID',
      fix: 'did you mean "class"? Known: class.',
    })
  })
})

describe('sort', () => {
  it('puts rows in the order of a field, equal ones as they came (PLG-601)', async () => {
    await fc.assert(
      fc.asyncProperty(classes, fc.constantFrom('ascending', 'descending'), async (rows, order) => {
        const numbered = rows.map((row, at) => ({ ...row, at }))
        const sorted = await apply(sort, { by: 'n', order }, numbered)
        const sign = order === 'ascending' ? 1 : -1
        expect(sorted).toEqual(numbered.toSorted((a, b) => sign * (a.n - b.n) || a.at - b.at))
      }),
    )
  })

  it('measures text by its length where it is asked to (PLG-601)', async () => {
    const rows = [{ q: 'ccc' }, { q: 'a' }, { q: 'bb' }]
    expect(await apply(sort, { by: 'q', measure: 'length' }, rows)).toEqual([{ q: 'a' }, { q: 'bb' }, { q: 'ccc' }])
    expect(await apply(sort, { by: 'q', order: 'descending' }, rows)).toEqual([{ q: 'ccc' }, { q: 'bb' }, { q: 'a' }])
  })

  it.each<[Row[], string]>([
    [[{ n: [1] }], 'sort: "n" is a list, which has no order'],
    [[{ n: 1 }, { n: 'x' }], 'sort: "n" is text, and a number in the rows before'],
    [[{ m: 1 }], 'sort: the row has no field "n"'],
  ])('refuses rows without an order (PLG-601)', async (rows, message) => {
    await expect(apply(sort, { by: 'n' }, rows)).rejects.toMatchObject({ code: 'DATA_INVALID', message })
  })
})
