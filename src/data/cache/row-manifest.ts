// What the cache says of rows that it holds: how many, of which shape, and how they came about.
import * as z from 'zod'
import { PlacedRow, RowFormat } from '../../contracts/index.ts'

/** How rows came about: the source as it was, and every transform with the rows that it left. */
export const Lineage = z.strictObject({
  source: z.strictObject({
    kind: z.string(),
    params: z.record(z.string(), z.unknown()),
    code_hash: z.string(),
    identity: z.unknown(),
    rows: z.int().min(0),
  }),
  transforms: z.array(
    z.strictObject({
      kind: z.string(),
      params: z.record(z.string(), z.unknown()),
      code_hash: z.string(),
      rows: z.int().min(0).describe('Rows that came out of it.'),
    }),
  ),
  seed: z.int().optional().describe('Present where a transform drew from the randomness of the run.'),
})
export type Lineage = z.infer<typeof Lineage>

export const RowManifest = z.strictObject({
  format: RowFormat,
  rows: z.int().min(0),
  hash: z.string().describe('Of the rows in their order, as canonical JSON.'),
  lineage: Lineage,
  before: z.array(PlacedRow).describe('The first rows of the source.'),
  after: z.array(PlacedRow).describe('The first rows after all transforms.'),
})
export type RowManifest = z.infer<typeof RowManifest>
