// The cache of Hugging Face tools, read as it lies on disk: models--ORG--NAME/{refs,snapshots}. Nothing is fetched.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
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

/** The folder of a model in a cache. */
export function repositoryFolder(cache: string, name: string): string {
  return join(cache, `models--${name.replace('/', '--')}`)
}

/** The snapshot that a revision (a branch, a tag, a commit) names; undefined if it is not in the cache. */
export async function findSnapshot(cache: string, name: string, revision: string): Promise<HubSnapshot | undefined> {
  checkRevision(revision)
  const repository = repositoryFolder(cache, name)
  const commit = commitForm.test(revision) ? revision : await readReference(join(repository, 'refs', revision))
  if (commit === undefined) return undefined
  const folder = join(repository, 'snapshots', commit)
  return (await entries(folder)) === undefined ? undefined : { folder, commit }
}

/** Refuses a revision that is no name of a branch, a tag or a commit. */
export function checkRevision(revision: string): void {
  if (revisionForm.test(revision)) return
  throw new EvsysError('MODEL_MISSING', `${JSON.stringify(revision)} is no revision`, {
    fix: 'use a branch, a tag or the 40 digits of a commit.',
  })
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

// One file of the hub's cache: its content in blobs/ under its digest, and a link to it in the snapshot.
/** A file as the hub lists it. */
export interface HubFile {
  readonly path: string
  readonly sizeBytes: number
  /** SHA-256 of the content, or the SHA-1 that git gives it. */
  readonly digest: string
}

/** Writes a file's content and its link; a content that is not what the digest says is refused. */
export async function storeHubFile(
  root: string,
  commit: string,
  file: HubFile,
  content: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<void> {
  const link = join(root, 'snapshots', commit, file.path)
  const blob = join(root, 'blobs', file.digest)
  const unfinished = `${blob}.${process.pid}-${randomBytes(6).toString('hex')}.incomplete`
  await localStep('make', link, async () => {
    await mkdir(dirname(blob), { recursive: true })
    await mkdir(dirname(link), { recursive: true })
  })
  try {
    await writeChecked(unfinished, file, content)
    await localStep('write', blob, () => rename(unfinished, blob))
  } finally {
    await rm(unfinished, { force: true })
  }
  await localStep('write', link, () => placeLink(blob, link))
}

async function writeChecked(
  path: string,
  { digest, sizeBytes, path: name }: HubFile,
  content: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>,
): Promise<void> {
  const isSha256 = digest.length === 64
  const hash = createHash(isSha256 ? 'sha256' : 'sha1')
  if (!isSha256) hash.update(`blob ${sizeBytes}\0`)
  let length = 0
  await using file = await localStep('write', path, () => open(path, 'wx'))
  for await (const chunk of content) {
    length += chunk.length
    if (length > sizeBytes) break
    hash.update(chunk)
    await localStep('write', path, () => file.writeFile(chunk))
  }
  await localStep('write', path, () => file.sync())
  if (length === sizeBytes && hash.digest('hex') === digest) return
  throw new EvsysError('MODEL_MISSING', `${name} arrived with other bytes than the hub announced`, {
    fix: 'try again; if it stays, something between this machine and the hub changes files.',
    retryable: true,
  })
}

// Where links are not allowed (Windows), the file itself takes the place.
async function placeLink(blob: string, link: string): Promise<void> {
  await rm(link, { force: true }) // a link to nothing
  try {
    await symlink(relative(dirname(link), blob), link)
  } catch (cause) {
    if (systemCode(cause) === 'EEXIST') return // another download was faster
    if (systemCode(cause) !== 'EPERM') throw cause
    await rename(blob, link)
  }
}

// The disk's failures are no failures of the network: they are not tried again.
async function localStep<T>(action: string, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw fileError(action, path, cause)
  }
}
