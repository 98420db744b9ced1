import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { rowsWithRepeats } from '../../../tests/rows-with-repeats.ts'
import type { Row, Transform } from '../../contracts/index.ts'
import { filter } from './filter.ts'

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
