// From the data block of a run to typed rows. The hash covers the rows as they are trained on, after every transform.
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { DataConfig, RowFormat, RowOf } from '../../contracts/index.ts'
import { parseRows, rowStream } from '../../data/index.ts'
import { canonicalJson, EvsysError } from '../../kernel/index.ts'
import { equip, type RunServices } from './run-context.ts'

export interface LoadedRows<F extends RowFormat> {
  readonly rows: readonly RowOf[F][]
  readonly hash: string
}

export async function loadRows<F extends RowFormat>(
  data: DataConfig,
  format: F,
  services: RunServices,
): Promise<LoadedRows<F>> {
  if (data.dataset_id !== undefined || data.dataset_name !== undefined) {
    throw new EvsysError('DATA_READ', `no dataset is stored under "${data.dataset_id ?? data.dataset_name}"`, {
      fix: 'name a file: data: { source_kind: jsonl, path: data/train.jsonl }',
    })
  }
  const source = equip('data_source', { kind: data.source_kind, params: data.params ?? {} }, services)
  const steps = data.transforms.map((spec) => {
    const { plugin, context } = equip('transform', spec, services)
    return { transform: plugin, context }
  })
  const raw = source.plugin.rows({ ...source.context, data, resolve: (path) => resolve(path) })
  const hash = createHash('sha256')
  const rows: RowOf[F][] = []
  for await (const row of parseRows(rowStream(raw, steps), format, services)) {
    hash.update(`${canonicalJson(row)}\n`)
    rows.push(row)
  }
  return { rows, hash: hash.digest('hex') }
}
