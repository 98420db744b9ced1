import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod'
import type { DataConfig } from '../../contracts/index.ts'
import { defineDataSource, EvsysError } from '../../kernel/index.ts'
import { type DataFile, formatOf, readDataFile } from '../files/data-file.ts'
import { failsToRead, fileIdentity } from '../files/read-error.ts'
import { nonEmpty } from '../rows/params.ts'
import { sourcePath } from './file-sources.ts'
import { openNamedDatasets } from './named-datasets.ts'

/** Rows of a dataset that the project keeps. */
export const datasetSource = defineDataSource({
  kind: 'dataset',
  summary: 'Reads a dataset that `evsys dataset add` stored (data.dataset_name or data.dataset_id).',
  params: z.strictObject({}),
  async *rows(context) {
    const { datasets, dataset } = await findDataset(context)
    for (const file of await datasets.wholeFiles(dataset, context.data.hf_split)) yield* readDataFile(file, context)
  },
  async identity(context) {
    const { datasets, dataset } = await findDataset(context)
    // Rows in the cache stand for this content: where it has changed, they are refused with it.
    await datasets.wholeFiles(dataset, context.data.hf_split)
    return { name: dataset.name, version: dataset.version, hash: dataset.hash, split: context.data.hf_split }
  },
})

async function findDataset({ data, projectDir }: { data: DataConfig; projectDir?: string | undefined }) {
  const reference = data.dataset_id === undefined ? { name: data.dataset_name ?? '' } : { id: data.dataset_id }
  if (projectDir === undefined) {
    throw new EvsysError('DATA_READ', 'stored datasets belong to a project, and there is none here', {
      fix: 'run in a project, or name a file: data: { source_kind: jsonl, path: data/train.jsonl }.',
    })
  }
  const datasets = openNamedDatasets(projectDir)
  return { datasets, dataset: await datasets.find(reference) }
}

/** Throws where a data block names a stored dataset that is not there, or whose content is not what was stored. */
export async function requireStoredData(data: DataConfig, projectDir: string): Promise<void> {
  if (data.dataset_id === undefined && data.dataset_name === undefined) return
  const { datasets, dataset } = await findDataset({ data, projectDir })
  await datasets.wholeFiles(dataset, data.hf_split)
}

/** Rows of all files in a folder, one file after the other. */
export const folderSource = defineDataSource({
  kind: 'folder',
  summary:
    'Reads all .jsonl, .json, .csv, .tsv and .parquet files of a folder (data.path), in the order of their names.',
  params: z.strictObject({
    label: nonEmpty
      .optional()
      .describe('Adds a field of this name to every row: the name of its file without the ending, for mix and filter.'),
  }),
  async *rows({ data, params, resolve, signal }) {
    for (const file of await filesOf(sourcePath(data, 'folder'), resolve)) {
      const label = basename(file.name).replace(/\.[^.]+$/, '')
      for await (const { row, place } of readDataFile(file, { signal })) {
        yield { row: params.label === undefined ? row : { ...row, [params.label]: label }, place }
      }
    }
  },
  async identity({ data, resolve }) {
    return identityOf(await filesOf(sourcePath(data, 'folder'), resolve))
  },
})

function identityOf(files: readonly DataFile[]) {
  return Promise.all(files.map(({ name, path }) => fileIdentity(name, () => path)))
}

async function filesOf(name: string, resolve: (path: string) => string): Promise<DataFile[]> {
  const names = await readdir(resolve(name)).catch(failsToRead(name))
  const files = names.filter((each) => formatOf(each) !== undefined && !each.startsWith('.')).sort()
  if (files.length > 0) return files.map((file) => ({ name: `${name}/${file}`, path: join(resolve(name), file) }))
  throw new EvsysError('DATA_READ', `the folder ${name} holds no file of rows`, {
    fix: 'it needs .jsonl, .json, .csv, .tsv or .parquet files.',
  })
}

const Params = z.strictObject({
  config: nonEmpty.optional().describe('Configuration that the dataset card names; absent: its default.'),
  revision: nonEmpty.default('main').describe('Branch, tag or commit of a dataset in the cache of Hugging Face tools.'),
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
    return identityOf(await splitFiles(context))
  },
})

type Asked = { data: DataConfig; params: z.output<typeof Params>; resolve(path: string): string }

async function splitFiles({ data, params: { config, revision }, resolve }: Asked) {
  if (data.hf_dataset === undefined) {
    throw new EvsysError('DATA_READ', 'data.hf_dataset is missing: the source "hf_dataset" reads it', {
      fix: 'add `hf_dataset: ./folder` or `hf_dataset: org/name` to data.',
    })
  }
  const { filesOfSplit, findHubDataset } = await import('../files/hub-dataset.ts') // with the YAML of dataset cards
  return filesOfSplit(await findHubDataset(data.hf_dataset, { revision, folder: resolve, config }), data.hf_split)
}
