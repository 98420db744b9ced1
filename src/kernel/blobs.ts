// Content-addressed bytes on disk, shared by any number of processes of one machine without a lock.
//
//   <dir>/ab/abcdef...              a blob, under the SHA-256 of its content
//   <dir>/pins/<hash>/<owner>       who keeps it: the name is a hash of the owner, who may be called anything; the content is the owner
//   <dir>/.evsys-*.tmp              a blob that is being written
//
// A pin is written before its blob appears. Names are made durable before a call returns.
import { createHash } from 'node:crypto'
import { mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Sha256 } from '../contracts/index.ts'
import { syncFolder, temporaryPath, writeFileAtomic } from './atomic-file.ts'
import { fileWork } from './file-error.ts'
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
