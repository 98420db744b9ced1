import * as z from 'zod'
import { defineDataSource, EvsysError, hashOf } from '../../kernel/index.ts'

/** Rows that stand in the experiment file. */
export const inMemorySource = defineDataSource({
  kind: 'in_memory',
  summary: 'Takes the rows written in the experiment file itself (data.rows).',
  params: z.strictObject({}),
  async *rows({ data, signal }) {
    if (data.rows === undefined) {
      throw new EvsysError('DATA_READ', 'data.rows is missing: the source "in_memory" takes its rows from there', {
        fix: 'add `rows: [{ ... }]` to data, or name another source_kind.',
      })
    }
    for (const [index, row] of data.rows.entries()) {
      signal.throwIfAborted()
      yield { row: structuredClone(row), place: `rows[${index}]` } // the configuration stays as it was read
    }
  },
  identity: async ({ data }) => ({ rows: hashOf(data.rows ?? []) }),
})
