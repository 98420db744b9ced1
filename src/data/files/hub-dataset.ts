// A dataset of Hugging Face as files on this machine: a folder that a person names, or a snapshot in the cache of their tools. Nothing
// is fetched. Which files make a split follows from the dataset card, else from their names.
import { constants } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { EvsysError, hubCacheFolder, plainYaml, suggest, systemCode } from '../../kernel/index.ts'
import { isRow } from '../rows/raw-row.ts'
import { type DataFile, formatOf } from './data-file.ts'
import { failsToRead, isAbsent, readError } from './read-error.ts'

export interface HubDataset {
  /** As it was named: a folder or `org/name`. */
  readonly name: string
  /** The files of each split, in order. */
  readonly splits: ReadonlyMap<string, readonly DataFile[]>
}

// What the hub allows in names; neither part can be a path.
const repositoryForm = /^(?!.*\.\.)(?:[\w-][\w.-]{0,95}\/)?[\w-][\w.-]{0,95}$/
const commitForm = /^[0-9a-f]{40}$/
const mostFiles = 100_000
const mostCardBytes = 2_000_000

/** Finds the files of a dataset. `config` is one of the configurations that its card names. */
export async function findHubDataset(
  name: string,
  options: { config?: string | undefined; revision?: string | undefined; folder(path: string): string },
): Promise<HubDataset> {
  const { config, revision = 'main', folder } = options
  const dir = await datasetFolder(name, revision, folder)
  const files = (await filesBelow(dir, '')).filter((file) => formatOf(file) !== undefined)
  const patterns = await cardSplits(await readCard(dir), { name, config })
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
  if (isAbsolute(name) || /^\.{1,2}(?:[/\\]|$)/.test(name)) {
    if (await isFolder(folder(name))) return folder(name)
    throw new EvsysError('DATA_READ', `cannot read ${name}: there is no such folder`, {
      fix: 'correct the path; it is relative to the file in which it is written.',
    })
  }
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

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (cause) {
    if (isAbsent(cause)) return false
    throw readError(path, cause)
  }
}

// Links are followed to files, which is how the cache holds them, and not to folders, which could lead in a circle.
async function filesBelow(root: string, below: string, found: string[] = []): Promise<string[]> {
  const dir = join(root, below)
  const entries = await readdir(dir, { withFileTypes: true }).catch(failsToRead(dir))
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
    await using card = await open(join(dir, 'README.md'), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    if (!(await card.stat()).isFile()) return ''
    const start = Buffer.alloc(mostCardBytes) // its configurations are at the top
    const { bytesRead } = await card.read(start, 0, start.length, 0)
    return start.toString('utf8', 0, bytesRead)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return ''
    throw readError(join(dir, 'README.md'), cause)
  }
}

function byName(files: readonly string[]): Map<string, string[]> {
  const splits = new Map<string, string[]>()
  for (const file of files) splits.set(guessSplit(file), [...(splits.get(guessSplit(file)) ?? []), file])
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

// The splits that a dataset card names: the `configs` in the YAML at the top of README.md.
/** Patterns of file paths by split, in the order of the card. */
type SplitPatterns = ReadonlyMap<string, readonly RegExp[]>

/** The splits of a configuration; undefined where the card names none. */
async function cardSplits(
  card: string,
  { name, config }: { name: string; config?: string | undefined },
): Promise<SplitPatterns | undefined> {
  const all = await configsOf(card)
  const chosen =
    config === undefined
      ? (all.find((each) => each.default === true) ?? all.find((each) => each.config_name === 'default') ?? all[0])
      : all.find((each) => each.config_name === config)
  if (config !== undefined && chosen === undefined) {
    const known = all.flatMap((each) => (typeof each.config_name === 'string' ? [each.config_name] : []))
    throw new EvsysError('DATA_READ', `the dataset ${name} has no configuration "${config}"`, {
      fix: known.length === 0 ? 'its card names none: leave out params.config.' : suggest(config, known),
    })
  }
  return chosen === undefined ? undefined : patternsOf(chosen)
}

async function configsOf(card: string): Promise<Record<string, unknown>[]> {
  const [, yaml] = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(card) ?? []
  if (yaml === undefined) return []
  const read = await plainYaml(yaml)
  if ('fault' in read) return [] // a card is prose; its files speak for themselves
  const { value } = read
  const configs = isRow(value) && Array.isArray(value.configs) ? value.configs : []
  return configs.filter(isRow)
}

function patternsOf({ data_files, data_dir }: Record<string, unknown>): SplitPatterns | undefined {
  const below = typeof data_dir === 'string' ? `${data_dir.replace(/^\.?\/*|\/+$/g, '')}/` : ''
  const compile = (paths: unknown) =>
    (Array.isArray(paths) ? paths : [paths]).flatMap((path) =>
      typeof path === 'string' ? [globPattern(`${below}${path.replace(/^\.\//, '')}`)] : [],
    )
  if (typeof data_files === 'string') return new Map([['train', compile(data_files)]])
  if (isRow(data_files)) return new Map(Object.entries(data_files).map(([split, path]) => [split, compile(path)]))
  if (!Array.isArray(data_files)) return undefined
  if (data_files.every((each) => typeof each === 'string')) return new Map([['train', compile(data_files)]])
  return new Map(
    data_files.flatMap((each): [string, RegExp[]][] =>
      isRow(each) && typeof each.split === 'string' ? [[each.split, compile(each.path)]] : [],
    ),
  )
}

/** `data/train-*` and `**` as a regular expression over paths with /. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === '**/') return '(?:[^/]+/)*'
    if (part === '**') return '.*'
    if (part === '*') return '[^/]*'
    return part === '?' ? '[^/]' : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}

// The split that a file belongs to where no card says so: the word in its path, as Hugging Face reads them.
const words = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'val', 'dev'],
  test: ['test', 'testing', 'eval', 'evaluation'],
}

/** `data/train-00000-of-00003.parquet` is of train; so is a file without such a word. */
function guessSplit(path: string): string {
  for (const step of path.split('/').toReversed()) {
    for (const word of step.toLowerCase().split(/[^a-z]+/)) {
      const split = Object.entries(words).find(([, known]) => known.includes(word))
      if (split !== undefined) return split[0]
    }
  }
  return 'train'
}
