import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { rowsWithRepeats } from '../../../tests/rows-with-repeats.ts'
import type { Row, Transform } from '../../contracts/index.ts'
import { filter, sample, shuffle } from './select-rows.ts'

describe('filter', () => {
  const rows: Row[] = [{ v: 1 }, { v: 5 }, { v: 'abc' }, { v: '' }, { v: null }, { v: [] }, { v: {} }, {}, { v: false }]
  const kept = async (params: Record<string, unknown>) =>
    (await apply(filter as Transform, { field: 'v', ...params }, rows)).map((each) => each.v)

  it.each([
    [{ equals: 5 }, [5]],
    [{ equals: null }, [null]],
    [{ equals: false }, [false]],
    [{ in: [1, 'abc'] }, [1, 'abc']],
    [{ matches: '^a.c$' }, ['abc']],
    [{ min: 2 }, [5]],
    [{ min: 1, max: 1 }, [1]],
    [{ max: 4 }, [1]],
    [{ nonempty: true }, [1, 5, 'abc', false]],
    [{ nonempty: true, matches: 'b' }, ['abc']],
    [{ nonempty: true, negate: true }, ['', null, [], {}, undefined]],
  ])('keeps by %j (PLG-3)', async (params, values) => {
    expect(await kept(params)).toEqual(values)
  })

  it('keeps with negate exactly what it drops without (PLG-3)', async () => {
    const condition = fc.constantFrom<Omit<z.input<typeof filter.params>, 'field'>>(
      { equals: 1 },
      { in: [0, 'a'] },
      { matches: 'a' },
      { min: 1 },
      { max: 1 },
      { nonempty: true },
    )
    await fc.assert(
      fc.asyncProperty(rowsWithRepeats, condition, async (some, params) => {
        const data = [{ a: 0 }, ...some]
        const plain = await apply(filter, { field: 'a', ...params }, data)
        const negated = await apply(filter, { field: 'a', ...params, negate: true }, data)
        expect(plain.length + negated.length).toBe(data.length)
        expect(data.filter((each) => plain.includes(each) || negated.includes(each))).toEqual(data)
      }),
    )
  })

  it('says so when no row has the field (PLG-3)', async () => {
    await expect(apply(filter, { field: 'sore', min: 1 }, [{ score: 1 }, { score: 2 }])).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: 'filter: no row has the field "sore"',
      fix: 'did you mean "score"? Known: score.',
    })
  })

  it.each([[{}], [{ matches: '(' }], [{ in: [] }], [{ nonempty: false }]])(
    'refuses the params %j (PLG-3)',
    (params) => {
      expect(filter.params.safeParse({ field: 'v', ...params }).success).toBe(false)
    },
  )
})

const numbered = (count: number) => Array.from({ length: count }, (_, i) => ({ i }))
const indices = (rows: readonly Row[]) => rows.map(({ i }) => Number(i))

describe('sample', () => {
  it('has the exact size, in order, without repeats, and repeats with the seed (PLG-4)', async () => {
    const size = fc.oneof(
      fc.record({ n: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ fraction: fc.double({ min: 0.001, max: 1, noNaN: true }) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 50 }),
        size,
        fc.integer({ min: 0, max: 9 }),
        async (count, params, seed) => {
          const drawn = indices(await apply(sample as Transform, params, numbered(count), seed))
          expect(drawn).toHaveLength('n' in params ? Math.min(params.n, count) : Math.round(params.fraction * count))
          expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
          expect(indices(await apply(sample as Transform, params, numbered(count), seed))).toEqual(drawn)
        },
      ),
    )
  })

  it('has the exact size over many blocks (PLG-4)', async () => {
    for (const count of [1023, 1024, 1025, 2049, 5000]) {
      const drawn = indices(await apply(sample, { fraction: 0.3337 }, numbered(count)))
      expect(drawn).toHaveLength(Math.round(0.3337 * count))
      expect(drawn).toEqual([...new Set(drawn)].sort((a, b) => a - b))
    }
  })

  it.each([[{ n: 3 }], [{ fraction: 0.3 }]])('gives every row the same chance with %j (PLG-4)', async (params) => {
    const counts = new Array(10).fill(0)
    const seeds = 3000
    for (let seed = 0; seed < seeds; seed++) {
      for (const i of indices(await apply(sample, params, numbered(10), seed))) counts[i]++
    }
    // 0.3 of the seeds each; five standard deviations are sqrt(3000 * 0.3 * 0.7) * 5 = 125.
    for (const count of counts) expect(Math.abs(count - 0.3 * seeds)).toBeLessThan(125)
  })

  it('differs between seeds (PLG-4)', async () => {
    const draws = await Promise.all([1, 2, 3].map((seed) => apply(sample, { n: 10 }, numbered(1000), seed)))
    expect(new Set(draws.map((rows) => indices(rows).join())).size).toBe(3)
  })

  it.each([[{}], [{ n: 1, fraction: 0.5 }], [{ n: 0 }], [{ fraction: 0 }], [{ fraction: 1.5 }]])(
    'refuses the params %j (PLG-4)',
    (params) => {
      expect(sample.params.safeParse(params).success).toBe(false)
    },
  )
})

describe('shuffle', () => {
  it('is a permutation that the seed decides (PLG-4)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 99 }), async (count, seed) => {
        const order = indices(await apply(shuffle, {}, numbered(count), seed))
        expect([...order].sort((a, b) => a - b)).toEqual(indices(numbered(count)))
        expect(indices(await apply(shuffle, {}, numbered(count), seed))).toEqual(order)
      }),
    )
    expect(await apply(shuffle, {}, numbered(50), 1)).not.toEqual(await apply(shuffle, {}, numbered(50), 2))
  })
})
