import * as z from 'zod'
import { defineDataSource } from '../../kernel/index.ts'
import { fileIdentity } from '../file-identity.ts'
import { readJson } from '../read-json.ts'
import { sourcePath } from '../source-path.ts'

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
