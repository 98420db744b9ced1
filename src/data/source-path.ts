// The file of a source that reads one.
import type { DataConfig } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'

/** `data.path` as it is written, or an error that says which source needs it. */
export function sourcePath(data: DataConfig, kind: string): string {
  if (data.path !== undefined) return data.path
  throw new EvsysError('DATA_READ', `data.path is missing: the source "${kind}" reads a file`, {
    fix: `add \`path: data/train.${kind}\` to data, relative to the experiment file.`,
  })
}
