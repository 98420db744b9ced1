// What a project keeps of a version of a named dataset: which files, by the hash of their content, and how many rows.
import * as z from 'zod'

/** Names stand before an @ and become folders. */
export const DatasetName = z
  .string()
  .regex(
    /^(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'a dataset name has lower case letters, digits, - and _, and begins with a letter or digit',
  )

const StoredFile = z.strictObject({
  path: z.string().describe('Name within the dataset; its ending tells the format.'),
  split: z.string(),
  sha256: z.string(),
  bytes: z.int().min(0),
  rows: z.int().min(0),
})

export const StoredDataset = z.strictObject({
  format: z.literal(1),
  name: DatasetName,
  version: z.int().min(1),
  id: z.string().describe('Follows from name and content.'),
  hash: z.string().describe('Of the files: names, splits and content.'),
  rows: z.int().min(0),
  bytes: z.int().min(0),
  files: z.array(StoredFile).min(1),
  added_at: z.iso.datetime(),
  from: z.string().describe('What was added.'),
})
export type StoredDataset = z.infer<typeof StoredDataset>

/** `router`, `router@2` or `router@v2`. */
export function parseReference(text: string): { name: string; version?: number } | undefined {
  const [, name, version] = /^([^@]+)(?:@v?([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (name === undefined || !DatasetName.safeParse(name).success) return undefined
  return { name, ...(version === undefined ? {} : { version: Number(version) }) }
}
