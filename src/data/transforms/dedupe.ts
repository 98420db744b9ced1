import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { canonicalJson, defineTransform } from '../../kernel/index.ts'
import { createNearIndex, minHash } from '../near/near-index.ts'
import { nonEmpty } from '../rows/params.ts'
import { requiredField } from '../rows/raw-row.ts'

/** The first of equal rows, or of rows that are nearly equal. */
export const dedupe = defineTransform({
  kind: 'dedupe',
  summary: 'Keeps the first of equal rows: equal in one field, or as a whole; exactly or nearly.',
  params: z
    .strictObject({
      key: nonEmpty
        .optional()
        .describe('Field to compare; `a.b` leads into mappings. Absent: the whole row.')
        .meta({ search: { fields: true, area: 'data' } }),
      mode: z
        .enum(['exact', 'near'])
        .default('exact')
        .describe('near: also rows whose text has most of its parts in common, by MinHash.')
        .meta({ search: { area: 'data' } }),
      threshold: z
        .number()
        .min(0.3)
        .max(1)
        .default(0.8)
        .describe('near: Jaccard similarity of 5-character parts from which rows count as equal.')
        .meta({ search: { from: 0.5, to: 0.95, when: { mode: ['near'] }, area: 'data' } }),
      window: z
        .int()
        .min(2)
        .max(10_000_000)
        .default(500_000)
        .describe('near: kept rows that are remembered; bounds memory, at about a kilobyte for each.')
        .meta({ search: { off: 'it bounds memory' } }),
    })
    .meta({ search: { optional: true, area: 'data' } }),
  async *run(rows, { params, signal }) {
    const isNew = params.mode === 'near' ? nearTest(params) : exactTest()
    for await (const row of rows) {
      signal.throwIfAborted()
      if (isNew(compared(row, params.key))) yield row
    }
  },
})

// A digest stands for the value: one million long texts take 44 bytes each.
function exactTest(): (value: unknown) => boolean {
  const seen = new Set<string>()
  return (value) => {
    const digest = createHash('sha256').update(canonicalJson(value)).digest('base64')
    const isNew = !seen.has(digest)
    seen.add(digest)
    return isNew
  }
}

function nearTest(params: { threshold: number; window: number }): (value: unknown) => boolean {
  const index = createNearIndex(params)
  return (value) => {
    const signature = minHash(typeof value === 'string' ? value : canonicalJson(value))
    if (index.has(signature)) return false
    index.add(signature)
    return true
  }
}

function compared(row: Row, key: string | undefined): unknown {
  return key === undefined ? row : requiredField(row, key, `dedupe: the row has no field "${key}"`)
}
