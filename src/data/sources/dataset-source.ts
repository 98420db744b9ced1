import * as z from 'zod'
import type { DataConfig } from '../../contracts/index.ts'
import { defineDataSource, EvsysError } from '../../kernel/index.ts'
import { readDataFile } from '../files/data-file.ts'
import { openNamedDatasets } from '../named/named-datasets.ts'

/** Rows of a dataset that the project keeps. */
export const datasetSource = defineDataSource({
  kind: 'dataset',
  summary: 'Reads a dataset that `evsys dataset add` stored (data.dataset_name or data.dataset_id).',
  params: z.strictObject({}),
  async *rows(context) {
    const { datasets, dataset } = await findDataset(context)
    for (const file of datasets.files(dataset, context.data.hf_split)) yield* readDataFile(file, context)
  },
  async identity(context) {
    const { dataset } = await findDataset(context)
    return { name: dataset.name, version: dataset.version, hash: dataset.hash, split: context.data.hf_split }
  },
})

async function findDataset({ data, projectDir }: { data: DataConfig; projectDir?: string }) {
  const reference = data.dataset_id === undefined ? { name: data.dataset_name ?? '' } : { id: data.dataset_id }
  if (projectDir === undefined) {
    throw new EvsysError('DATA_READ', 'stored datasets belong to a project, and there is none here', {
      fix: 'run in a project, or name a file: data: { source_kind: jsonl, path: data/train.jsonl }.',
    })
  }
  const datasets = openNamedDatasets(projectDir)
  return { datasets, dataset: await datasets.find(reference) }
}
