import * as z from 'zod'
import { defineDataSource } from '../../kernel/index.ts'
import { fileIdentity } from '../file-identity.ts'
import { longestLineBytes, readJsonl } from '../read-jsonl.ts'
import { sourcePath } from '../source-path.ts'

/** Rows of a JSON Lines file, one object per line. */
export const jsonlSource = defineDataSource({
  kind: 'jsonl',
  summary: 'Reads a JSON Lines file (data.path): one JSON object per line, streamed.',
  params: z.strictObject({
    max_line_bytes: z
      .int()
      .min(1)
      .max(256 * 1024 * 1024)
      .default(longestLineBytes)
      .describe('A longer line is an error.'),
  }),
  async *rows({ data, params, resolve, signal }) {
    const name = sourcePath(data, 'jsonl')
    for await (const { row, line } of readJsonl(resolve(name), { name, signal, maxLineBytes: params.max_line_bytes })) {
      yield { row, place: `${name}:${line}` }
    }
  },
  identity: ({ data, resolve }) => fileIdentity(sourcePath(data, 'jsonl'), resolve),
})
