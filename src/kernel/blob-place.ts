// Where blobs lie, and how one that is dying comes back. The reasons are in blobs.ts.
import { randomBytes } from 'node:crypto'
import { readdir, rename, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sha256 } from '../contracts/index.ts'
import { syncFolder } from './atomic-file.ts'
import { fileError, systemCode } from './file-error.ts'

const namePattern = /^(?<hash>[0-9a-f]{64})(?<dying>\.[0-9a-f]{16}\.dying)?$/

/** The folder and path of a blob. */
export function blobPlace(dir: string, hash: Sha256): { folder: string; path: string } {
  const folder = join(dir, hash.slice(0, 2))
  return { folder, path: join(folder, hash) }
}

/** Names that a blob lies under: its hash, and dying names of collections that are under way or were killed. */
export type BlobNames = { hash: Sha256; placed: boolean; dying: string[] }

/** All blobs, by hash. */
export async function* listBlobs(dir: string): AsyncIterable<BlobNames> {
  for (const prefix of (await namesIn(dir)).sort()) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue
    const blobs = new Map<Sha256, BlobNames>()
    for (const name of (await namesIn(join(dir, prefix))).sort()) {
      const parts = namePattern.exec(name)?.groups
      if (parts?.hash === undefined || !parts.hash.startsWith(prefix)) continue
      const blob = blobs.get(parts.hash) ?? { hash: parts.hash, placed: false, dying: [] }
      if (parts.dying === undefined) blob.placed = true
      else blob.dying.push(name)
      blobs.set(parts.hash, blob)
    }
    yield* blobs.values()
  }
}

/** The dying names of one blob. */
export async function dyingNames(dir: string, hash: Sha256): Promise<string[]> {
  const names = await namesIn(blobPlace(dir, hash).folder)
  return names.filter((name) => name.startsWith(`${hash}.`) && namePattern.test(name))
}

/** Moves a blob to a dying name that is used this once. Undefined when it is gone. */
export async function condemnBlob(dir: string, hash: Sha256): Promise<string | undefined> {
  const { folder, path } = blobPlace(dir, hash)
  const name = `${hash}.${randomBytes(8).toString('hex')}.dying`
  return (await unlessGone('delete', path, () => rename(path, join(folder, name)))) ? name : undefined
}

/** Moves a dying blob back to its place. False when it is gone: deleted, or brought back by somebody else. */
export async function restoreBlob(dir: string, name: string): Promise<boolean> {
  const { folder, path } = blobPlace(dir, name.slice(0, 64))
  return unlessGone('restore', path, async () => {
    // Its time first: it may replace a blob that was just put, and must not be older than that.
    const now = new Date()
    await utimes(join(folder, name), now, now)
    await rename(join(folder, name), path)
    await syncFolder(folder)
  })
}

/** Runs a file operation; false when the file is not there. */
export async function unlessGone(action: string, path: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return false
    throw fileError(action, path, cause)
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw fileError('list', folder, cause)
  }
}
