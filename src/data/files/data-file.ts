// A file of rows in any of the formats, by its name, for datasets that are made of several files.
import type { Row } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { readCsv } from './read-csv.ts'
import { readJson } from './read-json.ts'
import { readJsonl } from './read-jsonl.ts'
import { readParquet } from './read-parquet.ts'

export interface DataFile {
  /** As errors call it; its ending gives the format. */
  readonly name: string
  readonly path: string
}

const formats = { jsonl: 'jsonl', ndjson: 'jsonl', json: 'json', csv: 'csv', tsv: 'tsv', parquet: 'parquet' } as const
type Format = (typeof formats)[keyof typeof formats]

/** The format of a file, by the ending of its name; undefined for any other ending. */
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
  const options = { name, signal }
  if (format === 'parquet') yield* readParquet(path, options)
  else if (format === 'json') yield* readJson(path, options)
  else if (format === 'jsonl') yield* placedLines(name, readJsonl(path, options))
  else if (format === 'csv') yield* placedLines(name, readCsv(path, options))
  else if (format === 'tsv') yield* placedLines(name, readCsv(path, { ...options, delimiter: '\t' }))
  else {
    throw new EvsysError('DATA_READ', `the name of ${name} does not say its format`, {
      fix: 'use files that end in .jsonl, .json, .csv, .tsv or .parquet.',
    })
  }
}

/** Rows of a file of lines, with their places: `data/train.jsonl:3`. */
export async function* placedLines(name: string, lines: AsyncIterable<{ row: Row; line: number }>) {
  for await (const { row, line } of lines) yield { row, place: `${name}:${line}` }
}
