// What a run was trained on, to look at: rows before and after the transforms, and the first batch as tokens with the weight that each
// has in the loss.
import * as z from 'zod'
import { Seed } from './run-config.ts'

export const PlacedRow = z.strictObject({
  place: z.string().describe('Where the row stands in its source: data/train.jsonl:812.'),
  row: z.record(z.string(), z.unknown()),
})
export type PlacedRow = z.infer<typeof PlacedRow>

export const TokenExample = z.strictObject({
  tokens: z.array(z.int()),
  text: z.array(z.string()).describe('What each token stands for.'),
  weights: z.array(z.number()).describe('Weight of each token in the loss; 0: it is context.'),
  length: z.int().min(0).describe('Tokens of the whole example; the first of them are shown.'),
})
export type TokenExample = z.infer<typeof TokenExample>

const Step = z.strictObject({ kind: z.string(), rows: z.int().min(0).describe('Rows that came out of it.') })

export const DataPreview = z.strictObject({
  version: z.literal(1),
  rows: z.int().min(0),
  hash: z.string().describe('Of the rows in their order.'),
  source: Step,
  transforms: z.array(Step),
  before: z.array(PlacedRow).describe('The first rows of the source.'),
  after: z.array(PlacedRow).describe('The first rows after all transforms.'),
  examples: z.array(TokenExample).describe('Of the first batch.'),
})
export type DataPreview = z.infer<typeof DataPreview>

/** The preview of one run, as `run --dry --json` and `show --data --json` print it. */
export const RunDataPreview = z.strictObject({
  run_id: z.string(),
  name: z.string(),
  arm: z.string(),
  seed: Seed,
  preview: DataPreview.nullable().describe('Null: the run trains on no data, or has not begun.'),
})
export type RunDataPreview = z.infer<typeof RunDataPreview>
