// One file of the hub's cache: its content in blobs/ under its digest, and a link to it in the snapshot.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { EvsysError, fileError, systemCode } from '../../kernel/index.ts'

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
