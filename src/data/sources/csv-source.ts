import * as z from 'zod'
import { defineDataSource } from '../../kernel/index.ts'
import { fileIdentity } from '../file-identity.ts'
import { csvTypes, longestRecordChars, readCsv } from '../read-csv.ts'
import { sourcePath } from '../source-path.ts'

/** Rows of a CSV file, one record per row. */
export const csvSource = defineDataSource({
  kind: 'csv',
  summary: 'Reads a CSV file (data.path) by RFC 4180, streamed; the first record names the fields.',
  params: z.strictObject({
    delimiter: z.enum([',', ';', '\t', '|']).default(',').describe('What separates fields.'),
    columns: z.array(z.string().min(1)).min(1).optional().describe('Names of the fields, for a file without a header.'),
    types: z
      .record(z.string().min(1), z.enum(csvTypes))
      .default({})
      .describe('Fields that are not text: number, boolean or json. An empty one is null.'),
    max_record_chars: z
      .int()
      .min(1)
      .max(256 * 1024 * 1024)
      .default(longestRecordChars)
      .describe('A longer record is an error.'),
  }),
  async *rows({ data, params, resolve, signal }) {
    const name = sourcePath(data, 'csv')
    const { delimiter, columns, types, max_record_chars: maxRecordChars } = params
    const options = { name, signal, delimiter, types, maxRecordChars, ...(columns === undefined ? {} : { columns }) }
    for await (const { row, line } of readCsv(resolve(name), options)) yield { row, place: `${name}:${line}` }
  },
  identity: ({ data, resolve }) => fileIdentity(sourcePath(data, 'csv'), resolve),
})
