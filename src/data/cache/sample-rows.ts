// A few rows of a data block as they come, for someone who decides what to do with them: nothing but its splits is done to them, so that
// none of another part is among them.
import type { DataConfig, Row } from '../../contracts/index.ts'
import type { PluginServices } from '../../kernel/index.ts'
import { rowStream } from '../rows/row-stream.ts'
import { planRows } from './typed-rows.ts'

export interface SampledRows {
  readonly samples: readonly Row[]
  readonly read: number
  /** Whether there are no more. */
  readonly isAll: boolean
}

/** Rows that are read for a sample. */
const mostRead = 20_000

/** At most `most` rows, spread evenly over those that were read. */
export async function sampleRows(
  { data, services, projectDir }: { data: DataConfig; services: PluginServices; projectDir: string },
  most: number,
): Promise<SampledRows> {
  const transforms = data.transforms.slice(0, splitsOf(data))
  const block = { ...data, transforms }
  const { source, sourceContext, steps } = planRows({ data: block, format: 'chat_messages', services, projectDir })
  const rows = source.plugin.rows({ ...source.context, ...sourceContext })
  const stream = rowStream(
    rows,
    steps.map(({ equipped }) => ({ transform: equipped.plugin, context: equipped.context })),
  )
  const read: Row[] = []
  for await (const row of stream) {
    if (read.length === mostRead) return { samples: spread(read, most), read: read.length, isAll: false }
    read.push(row)
  }
  return { samples: spread(read, most), read: read.length, isAll: true }
}

/** How many transforms there are up to the last split. */
export function splitsOf({ transforms }: Pick<DataConfig, 'transforms'>): number {
  return transforms.findLastIndex(({ kind }) => kind === 'split') + 1
}

function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items]
  return Array.from({ length: most }, (_, i) => items[Math.floor((i * items.length) / most)] as T) // below the length
}
