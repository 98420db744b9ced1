import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'

/** The rows in random order. */
export const shuffle = defineTransform({
  kind: 'shuffle',
  summary: 'Puts the rows in random order, decided by the run’s seed; holds all of them at once.',
  params: z.strictObject({}),
  async *run(rows, { signal, random }) {
    const all: Row[] = []
    for await (const row of rows) {
      signal.throwIfAborted()
      all.push(row)
    }
    yield* random('shuffle').shuffle(all)
  },
})
