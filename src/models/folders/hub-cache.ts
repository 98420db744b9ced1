// The cache of Hugging Face tools, read as it lies on disk: models--ORG--NAME/{refs,snapshots}. Nothing is fetched.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EvsysError, fileError, systemCode } from '../../kernel/index.ts'

// What the hub allows in names; neither part can be a path.
const repositoryForm = /^(?!.*\.\.)(?:[\w-][\w.-]{0,95}\/)?[\w-][\w.-]{0,95}$/
const commitForm = /^[0-9a-f]{40}$/
const revisionForm = /^(?!.*\.\.)[\w-][\w./-]{0,199}$/

/** A snapshot of a model in the cache. */
interface HubSnapshot {
  readonly folder: string
  readonly commit: string
}

/** Whether a name can be one of the hub. */
export function isRepository(name: string): boolean {
  return repositoryForm.test(name)
}

/** The snapshot that a revision (a branch, a tag, a commit) names; undefined if it is not in the cache. */
export async function findSnapshot(cache: string, name: string, revision: string): Promise<HubSnapshot | undefined> {
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
