import * as z from 'zod'
import type { DataConfig } from '../../contracts/index.ts'
import { defineDataSource, EvsysError } from '../../kernel/index.ts'
import { fileIdentity } from '../file-identity.ts'
import { readDataFile } from '../files/data-file.ts'

const Params = z.strictObject({
  config: z.string().min(1).optional().describe('Configuration that the dataset card names; absent: its default.'),
  revision: z
    .string()
    .min(1)
    .default('main')
    .describe('Branch, tag or commit of a dataset in the cache of Hugging Face tools.'),
})

/** Rows of a Hugging Face dataset that is on this machine. */
export const hfDatasetSource = defineDataSource({
  kind: 'hf_dataset',
  summary:
    'Reads a Hugging Face dataset (data.hf_dataset, data.hf_split) from a folder or the hub cache; nothing is downloaded.',
  params: Params,
  async *rows(context) {
    for (const file of await splitFiles(context)) yield* readDataFile(file, context)
  },
  async identity(context) {
    const files = await splitFiles(context)
    return await Promise.all(files.map(({ name, path }) => fileIdentity(name, () => path)))
  },
})

interface Asked {
  readonly data: DataConfig
  readonly params: z.output<typeof Params>
  resolve(path: string): string
}

async function splitFiles({ data, params: { config, revision }, resolve }: Asked) {
  if (data.hf_dataset === undefined) {
    throw new EvsysError('DATA_READ', 'data.hf_dataset is missing: the source "hf_dataset" reads it', {
      fix: 'add `hf_dataset: ./folder` or `hf_dataset: org/name` to data.',
    })
  }
  const { filesOfSplit, findHubDataset } = await import('../files/hub-dataset.ts') // with the YAML of dataset cards
  const found = await findHubDataset(data.hf_dataset, {
    revision,
    folder: resolve,
    ...(config === undefined ? {} : { config }),
  })
  return filesOfSplit(found, data.hf_split)
}
