import * as z from 'zod'
import { defineDataSource } from '../../kernel/index.ts'
import { fileIdentity } from '../file-identity.ts'
import { readParquet } from '../read-parquet.ts'
import { sourcePath } from '../source-path.ts'

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
