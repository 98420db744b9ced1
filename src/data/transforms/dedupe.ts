import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { canonicalJson, defineTransform, suggest } from '../../kernel/index.ts'
import { fieldOf } from '../row-field.ts'
import { rowError } from '../row-place.ts'

/** The first of equal rows. */
export const dedupe = defineTransform({
  kind: 'dedupe',
  summary: 'Keeps the first of equal rows: equal in one field, or as a whole.',
  params: z.strictObject({
    key: z.string().min(1).optional().describe('Field to compare; `a.b` leads into mappings. Absent: the whole row.'),
  }),
  async *run(rows, { params, signal }) {
    const seen = new Set<string>()
    for await (const row of rows) {
      signal.throwIfAborted()
      // A digest stands for the value: one million long texts take 44 bytes each.
      const digest = createHash('sha256')
        .update(canonicalJson(compared(row, params.key)))
        .digest('base64')
      if (seen.has(digest)) continue
      seen.add(digest)
      yield row
    }
  },
})

function compared(row: Row, key: string | undefined): unknown {
  if (key === undefined) return row
  const value = fieldOf(row, key)
  if (value !== undefined) return value
  throw rowError(row, `dedupe: the row has no field "${key}"`, suggest(key, Object.keys(row)))
}
