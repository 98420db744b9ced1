import * as z from 'zod'
import type { DataConfig } from '../../contracts/index.ts'
import { defineDataSource, EvsysError, hashOf } from '../../kernel/index.ts'
import { placedLines } from '../files/data-file.ts'
import { csvTypes, longestRecordChars, readCsv } from '../files/read-csv.ts'
import { fileIdentity } from '../files/read-error.ts'
import { readJson } from '../files/read-json.ts'
import { longestLineBytes, readJsonl } from '../files/read-jsonl.ts'
import { readParquet } from '../files/read-parquet.ts'
import { count, nonEmpty } from '../rows/params.ts'

const longest = count.max(256 * 1024 * 1024)

/** Rows of a JSON Lines file, one object per line. */
export const jsonlSource = defineDataSource({
  kind: 'jsonl',
  summary: 'Reads a JSON Lines file (data.path): one JSON object per line, streamed.',
  params: z.strictObject({
    max_line_bytes: longest.default(longestLineBytes).describe('A longer line is an error.'),
  }),
  async *rows({ data, params, resolve, signal }) {
    const name = sourcePath(data, 'jsonl')
    yield* placedLines(name, readJsonl(resolve(name), { name, signal, maxLineBytes: params.max_line_bytes }))
  },
  identity: ({ data, resolve }) => fileIdentity(sourcePath(data, 'jsonl'), resolve),
})

/** Rows of a JSON file that holds one list. */
export const jsonSource = defineDataSource({
  kind: 'json',
  summary: 'Reads a JSON file (data.path) that holds one list of objects; use jsonl for large data.',
  params: z.strictObject({}),
  async *rows({ data, resolve, signal }) {
    const name = sourcePath(data, 'json')
    yield* readJson(resolve(name), { name, signal })
  },
  identity: ({ data, resolve }) => fileIdentity(sourcePath(data, 'json'), resolve),
})

/** Rows of a CSV file, one record per row. */
export const csvSource = defineDataSource({
  kind: 'csv',
  summary: 'Reads a CSV file (data.path) by RFC 4180, streamed; the first record names the fields.',
  params: z.strictObject({
    delimiter: z.enum([',', ';', '\t', '|']).default(',').describe('What separates fields.'),
    columns: z.array(nonEmpty).min(1).optional().describe('Names of the fields, for a file without a header.'),
    types: z
      .record(nonEmpty, z.enum(csvTypes))
      .default({})
      .describe('Fields that are not text: number, boolean or json. An empty one is null.'),
    max_record_chars: longest.default(longestRecordChars).describe('A longer record is an error.'),
  }),
  async *rows({ data, params, resolve, signal }) {
    const name = sourcePath(data, 'csv')
    const { delimiter, columns, types, max_record_chars: maxRecordChars } = params
    yield* placedLines(name, readCsv(resolve(name), { name, signal, delimiter, types, maxRecordChars, columns }))
  },
  identity: ({ data, resolve }) => fileIdentity(sourcePath(data, 'csv'), resolve),
})

/** Rows of a Parquet file. */
export const parquetSource = defineDataSource({
  kind: 'parquet',
  summary: 'Reads a Parquet file (data.path), one row group at a time.',
  params: z.strictObject({}),
  async *rows({ data, resolve, signal }) {
    const name = sourcePath(data, 'parquet')
    yield* readParquet(resolve(name), { name, signal })
  },
  identity: ({ data, resolve }) => fileIdentity(sourcePath(data, 'parquet'), resolve),
})

/** Rows that stand in the experiment file. */
export const inMemorySource = defineDataSource({
  kind: 'in_memory',
  summary: 'Takes the rows written in the experiment file itself (data.rows).',
  params: z.strictObject({}),
  async *rows({ data, signal }) {
    if (data.rows === undefined) {
      throw new EvsysError('DATA_READ', 'data.rows is missing: the source "in_memory" takes its rows from there', {
        fix: 'add `rows: [{ ... }]` to data, or name another source_kind.',
      })
    }
    for (const [index, row] of data.rows.entries()) {
      signal.throwIfAborted()
      yield { row: structuredClone(row), place: `rows[${index}]` } // the configuration stays as it was read
    }
  },
  identity: async ({ data }) => ({ rows: hashOf(data.rows ?? []) }),
})

/** No rows, for recipes that take none. */
export const noSource = defineDataSource({
  kind: 'none',
  summary: 'Has no rows: for recipes that take none, such as score_only and prompt_search.',
  params: z.strictObject({}),
  async *rows() {},
  identity: async () => ({}),
})

/** `data.path` as it is written, or an error that says which source needs it. */
export function sourcePath(data: DataConfig, kind: string): string {
  if (data.path !== undefined) return data.path
  throw new EvsysError('DATA_READ', `data.path is missing: the source "${kind}" reads a file`, {
    fix: `add \`path: data/train.${kind}\` to data, relative to the experiment file.`,
  })
}
