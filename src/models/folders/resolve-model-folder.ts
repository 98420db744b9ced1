// From the name of a model to the folder with its files. Nothing is downloaded here: that is a separate step.
import { readdir, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { EvsysError, fileError, hubCacheFolder, systemCode } from '../../kernel/index.ts'
import { bundledNames, ensureBundledModel, isBundled } from './bundled-models.ts'

export interface ResolveModelOptions {
  /** The folder that a relative path starts from. Default: the working folder. */
  readonly project?: string | undefined
  /** Branch, tag or commit of a model of the hub. Default `main`. */
  readonly revision?: string | undefined
  /** Files that the folder must hold. */
  readonly files?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

/** Where the files of a model are. */
export interface ModelFolder {
  readonly folder: string
  readonly source: 'bundled' | 'folder' | 'hub'
  /** The commit of a model of the hub. */
  readonly commit?: string | undefined
}

const usualFiles = ['config.json', 'tokenizer.json']

/** The folder of a model: bundled, a folder of the project, or in the Hugging Face cache of this machine. */
export async function resolveModelFolder(name: string, options: ResolveModelOptions = {}): Promise<ModelFolder> {
  const { project = process.cwd(), revision, files = usualFiles, env = process.env } = options
  if (isBundled(name)) return { folder: await ensureBundledModel(name), source: 'bundled' }
  const local = resolve(project, name)
  const isPath = isAbsolute(name) || /^\.{1,2}(?:[\\/]|$)/.test(name)
  if (name !== '' && !name.includes('\0') && (await statOf(local))?.isDirectory() === true) {
    await checkFiles(name, local, files)
    return { folder: local, source: 'folder' }
  }
  if (isPath || !isRepository(name)) throw missing(name, `there is no folder ${local}`)
  const cache = hubCacheFolder(env)
  const snapshot = await findSnapshot(cache, name, revision ?? 'main')
  if (snapshot === undefined) {
    const which = revision === undefined ? '' : ` at revision ${revision}`
    throw missing(name, `it is neither a folder of the project nor${which} in the cache ${cache}`, revision)
  }
  await checkFiles(name, snapshot.folder, files)
  return { folder: snapshot.folder, source: 'hub', commit: snapshot.commit }
}

async function checkFiles(name: string, folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    if ((await statOf(join(folder, file)))?.isFile() === true) continue
    throw new EvsysError('MODEL_INVALID', `model ${name}: ${folder} holds no ${file}`, {
      fix: 'name the folder of a model in Hugging Face form, or download it again: a part may be missing.',
    })
  }
}

async function statOf(path: string) {
  try {
    return await stat(path)
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP'].includes(systemCode(cause) ?? '')) return undefined
    throw fileError('inspect', path, cause)
  }
}

function missing(name: string, reason: string, revision?: string): EvsysError {
  const flag = revision === undefined ? '' : ` --revision ${revision}`
  const fetched = isRepository(name) ? `fetch it once with \`hf download ${name}${flag}\`, ` : ''
  return new EvsysError('MODEL_MISSING', `no model ${JSON.stringify(name)} is here: ${reason}`, {
    fix: `${fetched}name a folder with config.json, tokenizer.json and the weights, or use a bundled model: ${bundledNames.join(', ')}.`,
  })
}

// The cache of Hugging Face tools, read as it lies on disk: models--ORG--NAME/{refs,snapshots}. Nothing is fetched.
// What the hub allows in names; neither part can be a path.
const repositoryForm = /^(?!.*\.\.)(?:[\w-][\w.-]{0,95}\/)?[\w-][\w.-]{0,95}$/
const commitForm = /^[0-9a-f]{40}$/
const revisionForm = /^(?!.*\.\.)[\w-][\w./-]{0,199}$/

/** Whether a name can be one of the hub. */
function isRepository(name: string): boolean {
  return repositoryForm.test(name)
}

/** The snapshot that a revision (a branch, a tag, a commit) names; undefined if it is not in the cache. */
async function findSnapshot(cache: string, name: string, revision: string) {
  if (!revisionForm.test(revision)) {
    throw new EvsysError('MODEL_MISSING', `${JSON.stringify(revision)} is no revision`, {
      fix: 'use a branch, a tag or the 40 digits of a commit.',
    })
  }
  const repository = join(cache, `models--${name.replace('/', '--')}`)
  const commit = commitForm.test(revision) ? revision : await readReference(join(repository, 'refs', revision))
  if (commit === undefined) return undefined
  const folder = join(repository, 'snapshots', commit)
  return (await entries(folder)) === undefined ? undefined : { folder, commit }
}

async function readReference(path: string): Promise<string | undefined> {
  try {
    const commit = (await readFile(path, 'utf8')).trim()
    if (commitForm.test(commit)) return commit
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    throw fileError('read', path, cause)
  }
  throw new EvsysError('MODEL_INVALID', `${path} names no commit`, { fix: 'download the model again.' })
}

async function entries(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder)
  } catch (cause) {
    if (isAbsent(cause)) return undefined
    throw fileError('list', folder, cause)
  }
}

function isAbsent(cause: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(systemCode(cause) ?? '')
}

/** Where evsys keeps what it can make again, for all projects of a user. `EVSYS_CACHE` names another place. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env.EVSYS_CACHE) return env.EVSYS_CACHE
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, 'evsys')
  if (process.platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'evsys', 'cache')
  const home = env.HOME || homedir()
  return process.platform === 'darwin' ? join(home, 'Library', 'Caches', 'evsys') : join(home, '.cache', 'evsys')
}
