import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyTransform as apply } from '../../../tests/apply-transform.ts'
import { rowsWithRepeats } from '../../../tests/rows-with-repeats.ts'
import { withPlace } from '../rows/raw-row.ts'
import { dedupe } from './dedupe.ts'

describe('dedupe', () => {
  it('keeps exactly the first of equal rows, and is idempotent (PLG-3)', async () => {
    await fc.assert(
      fc.asyncProperty(rowsWithRepeats, async (rows) => {
        const once = await apply(dedupe, {}, rows)
        const sorted = (value: unknown): unknown =>
          // key order does not make rows differ
          JSON.stringify(value, (_key, each) =>
            isMapping(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
          )
        const texts = rows.map(sorted)
        expect(once).toEqual(rows.filter((_, index) => texts.indexOf(texts[index]) === index))
        expect(await apply(dedupe, {}, once)).toEqual(once)
      }),
    )
  })

  it('compares one field by value and type (PLG-3)', async () => {
    const rows = [{ k: 1 }, { k: '1' }, { k: 1, other: 2 }, { k: [1] }, { k: [1], x: 0 }, { k: null }]
    expect(await apply(dedupe, { key: 'k' }, rows)).toEqual([{ k: 1 }, { k: '1' }, { k: [1] }, { k: null }])
  })

  it('names the place of a row without the field (PLG-3)', async () => {
    await expect(apply(dedupe, { key: 'quary' }, [withPlace({ query: 1 }, 'd.jsonl:7')])).rejects.toMatchObject({
      code: 'DATA_INVALID',
      message: 'd.jsonl:7: dedupe: the row has no field "quary"',
      fix: 'did you mean "query"? Known: query.',
    })
  })
})

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
