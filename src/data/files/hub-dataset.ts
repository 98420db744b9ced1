// A dataset of Hugging Face as files on this machine: a folder that a person names, or a snapshot in the cache of their tools. Nothing
// is fetched. Which files make a split is told by the dataset card, else by their names.
import { readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { EvsysError, hubCacheFolder, suggest, systemCode } from '../../kernel/index.ts'
import { readError } from '../read-error.ts'
import { cardSplits, type SplitPatterns } from './card-splits.ts'
import { type DataFile, formatOf } from './data-file.ts'
import { guessSplit } from './guess-split.ts'

export interface HubDataset {
  /** As it was named: a folder or `org/name`. */
  readonly name: string
  /** The files of each split, in order. */
  readonly splits: ReadonlyMap<string, readonly DataFile[]>
}

// What the hub allows in names; neither part can be a path of its own.
const repositoryForm = /^(?!.*\.\.)(?:[\w-][\w.-]{0,95}\/)?[\w-][\w.-]{0,95}$/
const commitForm = /^[0-9a-f]{40}$/
const mostFiles = 100_000

/** Finds the files of a dataset. `config` is one of the configurations that its card names. */
export async function findHubDataset(
  name: string,
  { config, revision = 'main', folder }: { config?: string; revision?: string; folder(path: string): string },
): Promise<HubDataset> {
  const dir = await datasetFolder(name, revision, folder)
  const files = (await filesBelow(dir, '')).filter((file) => formatOf(file) !== undefined)
  const patterns = cardSplits(await readCard(dir), { name, ...(config === undefined ? {} : { config }) })
  const splits = patterns === undefined ? byName(files) : byPattern(files, patterns)
  const named = new Map(
    [...splits].map(([split, own]) => [split, own.map((file) => ({ name: `${name}/${file}`, path: join(dir, file) }))]),
  )
  if (named.size > 0) return { name, splits: named }
  throw new EvsysError('DATA_READ', `the dataset ${name} holds no file of rows`, {
    fix: 'it needs .parquet, .jsonl, .json or .csv files, at the top or under data/.',
  })
}

/** The files of one split, or an error that names those there are. */
export function filesOfSplit({ name, splits }: HubDataset, split: string): readonly DataFile[] {
  const files = splits.get(split)
  if (files !== undefined) return files
  throw new EvsysError('DATA_READ', `the dataset ${name} has no split "${split}"`, {
    fix: suggest(split, [...splits.keys()]),
  })
}

async function datasetFolder(name: string, revision: string, folder: (path: string) => string): Promise<string> {
  if (isAbsolute(name) || /^\.{1,2}(?:[/\\]|$)/.test(name)) return await existing(folder(name), name)
  if (!repositoryForm.test(name)) {
    throw new EvsysError('DATA_READ', `"${name}" is neither a folder nor a name of the hub`, {
      fix: 'write ./folder, or org/name.',
    })
  }
  const repository = join(hubCacheFolder(), `datasets--${name.replace('/', '--')}`)
  const commit = commitForm.test(revision)
    ? revision
    : await readReference(join(repository, 'refs', revision), revision)
  const snapshot = commit === undefined ? undefined : join(repository, 'snapshots', commit)
  if (snapshot !== undefined && (await isFolder(snapshot))) return snapshot
  throw new EvsysError('DATA_READ', `the dataset ${name} is not on this machine (revision ${revision})`, {
    fix: `download it once: \`hf download ${name} --repo-type dataset\`; or name a folder that holds it: ./${name}.`,
  })
}

async function readReference(path: string, revision: string): Promise<string | undefined> {
  if (!/^(?!.*\.\.)[\w-][\w./-]{0,199}$/.test(revision)) return undefined
  try {
    const commit = (await readFile(path, 'utf8')).trim()
    return commitForm.test(commit) ? commit : undefined
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemCode(cause) ?? '')) return undefined
    throw readError(path, cause)
  }
}

async function existing(path: string, name: string): Promise<string> {
  if (await isFolder(path)) return path
  throw new EvsysError('DATA_READ', `cannot read ${name}: there is no such folder`, {
    fix: 'correct the path; it is relative to the file in which it is written.',
  })
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(cause) ?? '')) return false
    throw readError(path, cause)
  }
}

// Links are followed to files, which is how the cache holds them, and not to folders, which could lead in a circle.
async function filesBelow(root: string, below: string, found: string[] = []): Promise<string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch((cause: unknown) => {
    throw readError(join(root, below), cause)
  })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory()) await filesBelow(root, path, found)
    else if (entry.isFile() || entry.isSymbolicLink()) found.push(path)
    if (found.length > mostFiles) {
      throw new EvsysError('DATA_READ', `${root} holds more than ${mostFiles} files`, {
        fix: 'name the folder of the dataset itself.',
      })
    }
  }
  return found
}

async function readCard(dir: string): Promise<string> {
  try {
    return await readFile(join(dir, 'README.md'), 'utf8')
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return ''
    throw readError(join(dir, 'README.md'), cause)
  }
}

function byName(files: readonly string[]): Map<string, string[]> {
  const splits = new Map<string, string[]>()
  for (const file of files) {
    const split = guessSplit(file)
    splits.set(split, [...(splits.get(split) ?? []), file])
  }
  return splits
}

function byPattern(files: readonly string[], patterns: SplitPatterns): Map<string, string[]> {
  const splits = new Map<string, string[]>()
  for (const [split, matches] of patterns) {
    const own = files.filter((file) => matches.some((pattern) => pattern.test(file)))
    if (own.length > 0) splits.set(split, own)
  }
  return splits
}
