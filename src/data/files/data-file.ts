// A file of rows in any of the formats, told by its name, for datasets that are made of several files.
import type { Row } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { readCsv } from './read-csv.ts'
import { readJson } from './read-json.ts'
import { readJsonl } from './read-jsonl.ts'
import { readParquet } from './read-parquet.ts'

export interface DataFile {
  /** As errors call it; the end of it tells the format. */
  readonly name: string
  readonly path: string
}

const formats = { jsonl: 'jsonl', ndjson: 'jsonl', json: 'json', csv: 'csv', tsv: 'tsv', parquet: 'parquet' } as const
type Format = (typeof formats)[keyof typeof formats]

/** The format that a file name tells; undefined where it tells none. */
export function formatOf(name: string): Format | undefined {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(formats, ending) ? formats[ending as keyof typeof formats] : undefined // just looked up
}

/** The rows of one file with their places. */
export async function* readDataFile(
  { name, path }: DataFile,
  { signal }: { signal: AbortSignal },
): AsyncGenerator<{ row: Row; place: string }, void, undefined> {
  const format = formatOf(name)
  if (format === 'parquet') yield* readParquet(path, { name, signal })
  else if (format === 'json') yield* readJson(path, { name, signal })
  else if (format === undefined) {
    throw new EvsysError('DATA_READ', `the name of ${name} does not tell its format`, {
      fix: 'use files that end in .jsonl, .json, .csv, .tsv or .parquet.',
    })
  } else {
    const lines =
      format === 'jsonl'
        ? readJsonl(path, { name, signal })
        : readCsv(path, { name, signal, delimiter: format === 'tsv' ? '\t' : ',' })
    for await (const { row, line } of lines) yield { row, place: `${name}:${line}` }
  }
}
