// The named datasets of a project. Content lies among its blobs, under its hash, and is pinned; a version is one small file that names
// it: `.evsys/datasets/<name>/<version>.json`. A version never changes, and the same content is never added twice.
import { createReadStream } from 'node:fs'
import { link, mkdir, readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod'
import {
  blobPlace,
  EvsysError,
  fileError,
  hashOf,
  messageOf,
  putBlob,
  requireBlob,
  suggest,
  syncFolder,
  systemClock,
  systemCode,
  temporaryPath,
} from '../../kernel/index.ts'
import { type DataFile, formatOf, readDataFile } from '../files/data-file.ts'
import { failsToRead, namesIn } from '../files/read-error.ts'

// What a project keeps of a version of a named dataset: which files, by the hash of their content, and how many rows.
/** Names stand before an @ and become folders. */
const DatasetName = z
  .string()
  .regex(
    /^(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'a dataset name has lower case letters, digits, - and _, and begins with a letter or digit',
  )

const StoredFile = z.strictObject({
  path: z.string().describe('Name within the dataset; its ending gives the format.'),
  split: z.string(),
  sha256: z.string(),
  bytes: z.int().min(0),
  rows: z.int().min(0),
})

export const StoredDataset = z.strictObject({
  format: z.literal(1),
  name: DatasetName,
  version: z.int().min(1),
  id: z.string().describe('Follows from name and content.'),
  hash: z.string().describe('Of the files: names, splits and content.'),
  rows: z.int().min(0),
  bytes: z.int().min(0),
  files: z.array(StoredFile).min(1),
  added_at: z.iso.datetime(),
  from: z.string().describe('What was added.'),
})
export type StoredDataset = z.infer<typeof StoredDataset>

/** `router`, `router@2` or `router@v2`. */
function parseReference(text: string): { name: string; version?: number | undefined } | undefined {
  const [, name, version] = /^([^@]+)(?:@v?([1-9]\d{0,8}))?$/.exec(text) ?? []
  if (name === undefined || !DatasetName.safeParse(name).success) return undefined
  return { name, version: version === undefined ? undefined : Number(version) }
}

export interface AddedDataset {
  readonly dataset: StoredDataset
  /** False: this content was there already, as this version. */
  readonly isNew: boolean
}

export interface NamedDatasets {
  /** Reads a file, or a folder in the layout of Hugging Face, to its end, and keeps it as the next version of a name. */
  add(name: string, path: string, options: { from?: string | undefined; signal: AbortSignal }): Promise<AddedDataset>
  /** All versions of all names, or of one: by name, the newest first. */
  list(name?: string): Promise<StoredDataset[]>
  /** By `name`, `name@version` or id. */
  find(reference: { name: string } | { id: string }): Promise<StoredDataset>
  /** The files of a version where they lie on disk, with the names that errors use. */
  files(dataset: StoredDataset, split: string): DataFile[]
  /** The same, once their content is known to be what was stored. */
  wholeFiles(dataset: StoredDataset, split: string): Promise<DataFile[]>
}

export function openNamedDatasets(projectDir: string): NamedDatasets {
  const home = join(projectDir, '.evsys')
  const root = join(home, 'datasets')
  const blobDir = join(home, 'blobs')

  const list = async (only?: string): Promise<StoredDataset[]> => {
    const found: StoredDataset[] = []
    for (const name of only === undefined ? await namesIn(root) : [only]) {
      for (const file of await namesIn(join(root, name))) {
        if (/^[1-9]\d{0,8}\.json$/.test(file)) found.push(await readVersion(join(root, name, file)))
      }
    }
    return found.sort((a, b) => (a.name === b.name ? b.version - a.version : a.name < b.name ? -1 : 1))
  }

  return {
    list,

    async add(name, path, { from = path, signal }) {
      const checked = DatasetName.safeParse(name)
      if (!checked.success) {
        const message = `"${name}" cannot be the name of a dataset: ${checked.error.issues[0]?.message}`
        throw new EvsysError('CLI_USAGE', message, { fix: 'choose a name such as router or router-train.' })
      }
      await makeHome(home, join(root, name))
      const files: StoredDataset['files'] = []
      for (const { file, split, shown } of await filesToAdd(path, from)) {
        const rows = await countRows({ name: shown, path: file.path }, signal) // refuses what a run could not read
        const { hash, sizeBytes } = await putBlob(blobDir, createReadStream(file.path, { signal }), `dataset:${name}`)
        files.push({ path: file.name, split, sha256: hash, bytes: sizeBytes, rows })
      }
      const hash = contentHash(files)
      const known = (await list(name)).find((each) => each.hash === hash)
      if (known !== undefined) return { dataset: known, isNew: false }
      const dataset = await claimVersion(join(root, name), {
        format: 1,
        name,
        id: idOf(name, hash),
        hash,
        rows: files.reduce((sum, { rows }) => sum + rows, 0),
        bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
        files,
        added_at: new Date(systemClock.now()).toISOString(),
        from,
      })
      return { dataset, isNew: true }
    },

    async find(reference) {
      if ('id' in reference) {
        const all = await list()
        const found = all.find(({ id }) => id === reference.id)
        if (found !== undefined) return found
        const known = all.map(({ id, name, version }) => `${id} (${name}@${version})`)
        throw unknown(reference.id, known)
      }
      const parsed = parseReference(reference.name)
      const versions = parsed === undefined ? [] : await list(parsed.name)
      const found =
        parsed?.version === undefined ? versions[0] : versions.find(({ version }) => version === parsed.version)
      if (found !== undefined) return found
      const known = (await list()).map(({ name, version }) => `${name}@${version}`)
      throw unknown(reference.name, known)
    },

    files: (dataset, split) =>
      filesOf(dataset, split).map(({ name, sha256 }) => ({ name, path: blobPlace(blobDir, sha256).path })),

    wholeFiles: (dataset, split) =>
      Promise.all(
        filesOf(dataset, split).map(async ({ name, sha256 }) => ({
          name,
          path: await requireBlob(blobDir, sha256, name),
        })),
      ),
  }
}

function filesOf({ name, version, files }: StoredDataset, split: string): { name: string; sha256: string }[] {
  const splits = [...new Set(files.map((file) => file.split))]
  const chosen = splits.length === 1 ? splits[0] : split
  const own = files.filter((file) => file.split === chosen)
  if (own.length === 0) {
    throw new EvsysError('DATA_READ', `the dataset ${name}@${version} has no split "${split}"`, {
      fix: suggest(split, splits),
    })
  }
  return own.map(({ path, sha256 }) => ({ name: `${name}@${version}/${path}`, sha256 }))
}

async function filesToAdd(path: string, shown: string): Promise<{ file: DataFile; split: string; shown: string }[]> {
  const found = await stat(path).catch(failsToRead(shown))
  if (!found.isDirectory()) {
    const name = basename(path)
    if (formatOf(name) === undefined) {
      throw new EvsysError('DATA_READ', `the name of ${shown} does not say its format`, {
        fix: 'use a file that ends in .jsonl, .json, .csv, .tsv or .parquet, or a folder of such files.',
      })
    }
    return [{ file: { name, path }, split: 'train', shown }]
  }
  const { findHubDataset } = await import('../files/hub-dataset.ts') // with the YAML of dataset cards
  const { splits } = await findHubDataset(path, { folder: (each) => each })
  return [...splits].flatMap(([split, files]) =>
    files.map(({ name, path: own }) => {
      const below = name.slice(path.length + 1)
      return { file: { name: below, path: own }, split, shown: `${shown}/${below}` }
    }),
  )
}

async function countRows(file: DataFile, signal: AbortSignal): Promise<number> {
  let rows = 0
  for await (const _ of readDataFile(file, { signal })) rows++
  if (rows > 0) return rows
  throw new EvsysError('DATA_INVALID', `${file.name} holds no rows`, { fix: 'add a file with at least one row.' })
}

// A link fails where its name is taken, so that of two that add at once each gets a separate version.
async function claimVersion(dir: string, body: Omit<StoredDataset, 'version'>): Promise<StoredDataset> {
  const temporary = temporaryPath(dir)
  try {
    for (let version = await nextVersion(dir); ; version++) {
      const { format, name, ...rest } = body
      const dataset: StoredDataset = { format, name, version, ...rest }
      await writeFile(temporary, `${JSON.stringify(dataset, null, 2)}\n`, { flush: true })
      try {
        await link(temporary, join(dir, `${version}.json`))
        await syncFolder(dir)
        return dataset
      } catch (cause) {
        if (systemCode(cause) !== 'EEXIST') throw cause
      }
    }
  } catch (cause) {
    throw fileError('write', dir, cause)
  } finally {
    await unlink(temporary).catch(() => {}) // it was never written
  }
}

async function nextVersion(dir: string): Promise<number> {
  const numbers = (await namesIn(dir)).map((name) => Number(/^(\d+)\.json$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...numbers) + 1
}

async function readVersion(path: string): Promise<StoredDataset> {
  const text = await readFile(path, 'utf8').catch(failsToRead(path))
  try {
    return unchanged(StoredDataset.parse(JSON.parse(text)), path)
  } catch (cause) {
    if (EvsysError.is(cause)) throw cause
    throw new EvsysError('DATA_INVALID', `${path} does not describe a dataset: ${messageOf(cause)}`, {
      cause,
      fix: 'remove the file and add the dataset again.',
    })
  }
}

// The id follows from the hash, and the hash from the files: who edits one of them has made another dataset.
function unchanged(dataset: StoredDataset, path: string): StoredDataset {
  const { name, files, hash, id } = dataset
  const now = contentHash(files)
  if (now === hash && id === idOf(name, hash)) return dataset
  throw new EvsysError('BLOB_CORRUPT', `${path} was changed after ${name}@${dataset.version} was stored`, {
    fix: 'remove the file and add the dataset again.',
  })
}

function contentHash(files: StoredDataset['files']): string {
  return hashOf(files.map(({ path, split, sha256 }) => ({ path, split, sha256 })))
}

function idOf(name: string, hash: string): string {
  return `ds_${hashOf({ name, hash }).slice(0, 16)}`
}

async function makeHome(home: string, folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(join(home, '.gitignore'), '*\n', { flag: 'wx' })
  } catch (cause) {
    if (systemCode(cause) !== 'EEXIST') throw fileError('make', folder, cause)
  }
}

function unknown(reference: string, known: readonly string[]): EvsysError {
  return new EvsysError('DATA_READ', `no dataset is stored under "${reference}"`, {
    fix:
      known.length === 0
        ? 'add it: `evsys dataset add NAME PATH`; or name a file: data: { source_kind: jsonl, path: data/train.jsonl }.'
        : suggest(reference, known),
  })
}
