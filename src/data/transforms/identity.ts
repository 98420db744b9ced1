import * as z from 'zod'
import { defineTransform } from '../../kernel/index.ts'

/** Rows as they are. */
export const identity = defineTransform({
  kind: 'identity',
  summary: 'Passes every row on unchanged.',
  params: z.strictObject({}),
  async *run(rows, { signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      yield row
    }
  },
})
