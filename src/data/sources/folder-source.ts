import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { defineDataSource, EvsysError } from '../../kernel/index.ts'
import { fileIdentity } from '../file-identity.ts'
import { type DataFile, formatOf, readDataFile } from '../files/data-file.ts'
import { readError } from '../read-error.ts'
import { sourcePath } from '../source-path.ts'

/** Rows of all files in a folder, one file after the other. */
export const folderSource = defineDataSource({
  kind: 'folder',
  summary:
    'Reads all .jsonl, .json, .csv, .tsv and .parquet files of a folder (data.path), in the order of their names.',
  params: z.strictObject({
    label: z
      .string()
      .min(1)
      .optional()
      .describe('Adds a field of this name to every row: the name of its file without the ending, for mix and filter.'),
  }),
  async *rows({ data, params, resolve, signal }) {
    for (const file of await filesOf(sourcePath(data, 'folder'), resolve)) {
      const label =
        file.name
          .split('/')
          .at(-1)
          ?.replace(/\.[^.]+$/, '') ?? ''
      for await (const { row, place } of readDataFile(file, { signal })) {
        yield { row: params.label === undefined ? row : { ...row, [params.label]: label }, place }
      }
    }
  },
  async identity({ data, resolve }) {
    const files = await filesOf(sourcePath(data, 'folder'), resolve)
    return await Promise.all(files.map(({ name, path }) => fileIdentity(name, () => path)))
  },
})

async function filesOf(name: string, resolve: (path: string) => string): Promise<DataFile[]> {
  const names = await readdir(resolve(name)).catch((cause: unknown) => {
    throw readError(name, cause)
  })
  const files = names.filter((each) => formatOf(each) !== undefined && !each.startsWith('.')).sort()
  if (files.length > 0) return files.map((file) => ({ name: `${name}/${file}`, path: join(resolve(name), file) }))
  throw new EvsysError('DATA_READ', `the folder ${name} holds no file of rows`, {
    fix: 'it needs .jsonl, .json, .csv, .tsv or .parquet files.',
  })
}
