import { createHash } from 'node:crypto'
import * as z from 'zod'
import type { Row } from '../../contracts/index.ts'
import { canonicalJson, defineTransform, suggest } from '../../kernel/index.ts'
import { fieldOf } from '../row-field.ts'
import { rowError } from '../row-place.ts'

const parts = ['train', 'val', 'test'] as const

/** One part of the rows, the same for every seed. */
export const split = defineTransform({
  kind: 'split',
  summary: 'Keeps one part of the rows, train, val or test, decided by their key: equal rows and groups stay together.',
  params: z
    .strictObject({
      part: z.enum(parts).describe('The part to keep.'),
      train: z.number().min(0).max(1).default(0.8).describe('Share of the keys in train.'),
      val: z.number().min(0).max(1).default(0.1).describe('Share of the keys in val; the rest is test.'),
      key: z
        .string()
        .min(1)
        .optional()
        .describe('Field that groups rows, such as a customer or a template; absent: the whole row.'),
      salt: z.string().default('').describe('Another text gives another split.'),
    })
    .refine(({ train, val }) => train + val <= 1 + 1e-9, { error: 'train and val together are more than 1' }),
  async *run(rows, { params, signal }) {
    for await (const row of rows) {
      signal.throwIfAborted()
      if (partOf(row, params) === params.part) yield row
    }
  },
})

// Not the run's randomness: with another seed a row of train would stand in test.
function partOf(
  row: Row,
  { train, val, key, salt }: { train: number; val: number; key?: string | undefined; salt: string },
): string {
  const value = key === undefined ? row : fieldOf(row, key)
  if (value === undefined) {
    throw rowError(row, `split: the row has no field "${key}"`, suggest(key ?? '', Object.keys(row)))
  }
  const digest = createHash('sha256')
    .update(canonicalJson([salt, value]))
    .digest()
  const at = digest.readUIntBE(0, 6) / 2 ** 48
  return at < train ? 'train' : at < train + val ? 'val' : 'test'
}
