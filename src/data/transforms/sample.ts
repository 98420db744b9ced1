import * as z from 'zod'
import type { Random, Row } from '../../contracts/index.ts'
import { defineTransform } from '../../kernel/index.ts'

/** Rows that a fraction is drawn from at a time: enough to be random, few enough to hold. */
const blockRows = 1024

/** A random part of the rows, of an exact size, in their order. */
export const sample = defineTransform({
  kind: 'sample',
  summary: 'Keeps a random part of the rows, of exact size and in their order; the run’s seed decides which.',
  params: z
    .strictObject({
      n: z.int().min(1).optional().describe('How many rows to keep. Data with fewer rows is kept whole.'),
      fraction: z.number().gt(0).max(1).optional().describe('Share of the rows to keep, rounded to whole rows.'),
    })
    .refine(({ n, fraction }) => (n === undefined) !== (fraction === undefined), {
      error: 'needs either n or fraction',
    }),
  async *run(rows, { params, signal, random }) {
    if (params.n !== undefined) yield* reservoir(rows, params.n, random('sample'), signal)
    else yield* fractionOf(rows, params.fraction ?? 1, (block) => random('sample', block), signal)
  },
})

// Algorithm R: every row so far is in the reservoir with the same chance. Holds n rows, whatever the data's size.
async function* reservoir(
  rows: AsyncIterable<Row>,
  n: number,
  random: Random,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  const kept: { index: number; row: Row }[] = []
  let index = 0
  for await (const row of rows) {
    signal.throwIfAborted()
    if (index < n) kept.push({ index, row })
    else {
      const slot = random.int(index + 1)
      if (slot < n) kept[slot] = { index, row }
    }
    index++
  }
  kept.sort((a, b) => a.index - b.index)
  for (const { row } of kept) yield row
}

// Block by block, with quotas that add up to the rounded whole: the size is exact although the total is not known before.
async function* fractionOf(
  rows: AsyncIterable<Row>,
  fraction: number,
  random: (block: number) => Random,
  signal: AbortSignal,
): AsyncGenerator<Row> {
  let seen = 0
  let block: Row[] = []
  const draw = (): Row[] => {
    const first = seen - block.length
    const quota = Math.round(seen * fraction) - Math.round(first * fraction)
    const chosen = new Set(
      random(Math.floor(first / blockRows))
        .shuffle([...block.keys()])
        .slice(0, quota),
    )
    const kept = block.filter((_, index) => chosen.has(index))
    block = []
    return kept
  }
  for await (const row of rows) {
    signal.throwIfAborted()
    block.push(row)
    seen++
    if (block.length === blockRows) yield* draw()
  }
  yield* draw()
}
