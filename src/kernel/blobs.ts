// Content-addressed bytes on disk, shared by any number of processes of one machine without a lock.
//
//   <dir>/ab/abcdef...              a blob, under the SHA-256 of its content
//   <dir>/pins/<hash>/<owner>       who keeps it: the name is a hash of the owner, who may be called anything; the content is the owner
//   <dir>/.evsys-*.tmp              a blob that is being written
//
// A pin is written before its blob appears. Names are made durable before a call returns.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Sha256 } from '../contracts/index.ts'
import { syncFolder, temporaryPath, writeFileAtomic } from './atomic-file.ts'
import { EvsysError } from './evsys-error.ts'
import { fileWork, ifPresent } from './file-error.ts'
import { canonicalJson, sha256 } from './hash.ts'

/** Stores bytes under their hash, for `owner`. The folder is made if needed. */
export async function putBlob(
  dir: string,
  bytes: AsyncIterable<Uint8Array>,
  owner: string,
): Promise<{ hash: Sha256; sizeBytes: number }> {
  await fileWork('create', dir, async () => {
    const created = await mkdir(dir, { recursive: true })
    if (created !== undefined) await syncFolder(dirname(created))
  })
  const temporary = temporaryPath(dir)
  try {
    const stored = await writeHashed(temporary, bytes)
    await pin(join(dir, 'pins'), stored.hash, owner)
    await moveIntoPlace(temporary, dir, stored.hash)
    return stored
  } catch (cause) {
    await unlink(temporary).catch(() => {}) // the first failure is the one to report
    throw cause
  }
}

/** Contents that this process has hashed, by path and by what changes with them. */
const whole = new Map<string, string>()

/** The path of a blob whose content still has its hash. Missing or changed, it is refused; `what` is what errors call it. */
export async function requireBlob(dir: string, hash: Sha256, what: string): Promise<string> {
  const { path } = blobPlace(dir, hash)
  const found = await ifPresent('read', path, () => stat(path, { bigint: true }))
  if (found === undefined) {
    throw new EvsysError('BLOB_MISSING', `the content of ${what} is not there: ${path}`, {
      fix: 'restore the `.evsys/blobs` folder from a copy, or store it again: the same content has the same hash.',
    })
  }
  const state = `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`
  if (whole.get(path) === state) return path
  const digest = createHash('sha256')
  await fileWork('read', path, async () => {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) digest.update(chunk)
  })
  if (digest.digest('hex') !== hash) {
    throw new EvsysError('BLOB_CORRUPT', `the content of ${what} has changed since it was stored: ${path}`, {
      fix: `remove that file and store the content again; check what wrote to it.`,
    })
  }
  whole.set(path, state)
  return path
}

export function blobPlace(dir: string, hash: Sha256): { folder: string; path: string } {
  const folder = join(dir, hash.slice(0, 2))
  return { folder, path: join(folder, hash) }
}

async function writeHashed(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ hash: Sha256; sizeBytes: number }> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  await using file = await fileWork('write', path, () => open(path, 'wx'))
  for await (const chunk of bytes) {
    digest.update(chunk)
    sizeBytes += chunk.length
    await fileWork('write', path, () => file.writeFile(chunk))
  }
  await fileWork('write', path, () => file.sync())
  return { hash: digest.digest('hex'), sizeBytes }
}

async function pin(dir: string, hash: Sha256, owner: string): Promise<void> {
  const folder = join(dir, hash)
  await fileWork('create', folder, async () => {
    await mkdir(folder, { recursive: true })
    await writeFileAtomic(join(folder, sha256(canonicalJson(owner))), canonicalJson(owner))
    for (const changed of [dir, dirname(dir)]) await syncFolder(changed)
  })
}

// It replaces a blob that is there already: the new file is known to be whole.
async function moveIntoPlace(temporary: string, dir: string, hash: Sha256): Promise<void> {
  const place = blobPlace(dir, hash)
  await fileWork('write', place.path, async () => {
    await mkdir(place.folder, { recursive: true })
    await rename(temporary, place.path)
    await syncFolder(place.folder)
    await syncFolder(dir) // always: another process may have made the folder and not come to this line
  })
}
