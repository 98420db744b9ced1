// Where blobs lie, which of them are kept by whom, and the deletion of the others. A pin is a file, so that it is made and removed in one step by any process. Its name is a hash of the
// owner, who may be called anything; its content is the owner.

import { randomBytes } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rmdir, stat, unlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Sha256 } from '../contracts/index.ts'
import { isTemporary, namesIn, sweepTemporary, syncFolder, temporaryPath, writeFileAtomic } from './atomic-file.ts'
import { type Clock, systemClock } from './clock.ts'
import { fileError, fileWork, ifPresent, systemCode } from './file-error.ts'
import { canonicalJson, sha256 } from './hash.ts'

type Pins = {
  add(hash: Sha256, owner: string): Promise<void>
  remove(hash: Sha256, owner: string): Promise<void>
  has(hash: Sha256): Promise<boolean>
  owners(hash: Sha256): Promise<string[]>
  /** Removes what dead processes left: unfinished files and empty folders. */
  tidy(): Promise<void>
}

export function openPins(dir: string): Pins {
  const folderOf = (hash: Sha256) => join(dir, hash)
  const pathOf = (hash: Sha256, owner: string) => join(folderOf(hash), sha256(canonicalJson(owner)))

  return {
    async add(hash, owner) {
      const folder = folderOf(hash)
      const staged = temporaryPath(dir)
      const placing = fileWork('create', folder, async () => {
        await mkdir(dir, { recursive: true })
        await writeFileAtomic(staged, canonicalJson(owner))
        moveIn(staged, pathOf(hash, owner))
        for (const changed of [folder, dir, dirname(dir)]) await syncFolder(changed)
      })
      await placing.finally(() => unlink(staged).catch(() => {})) // it has moved, or nothing wants it
    },

    async remove(hash, owner) {
      const path = pathOf(hash, owner)
      const isRemoved = await unlessGone('delete', path, async () => {
        await unlink(path)
        await syncFolder(dirname(path))
      })
      if (isRemoved) await removeEmpty(folderOf(hash))
    },

    async has(hash) {
      return (await finishedIn(folderOf(hash))).length > 0
    },

    async owners(hash) {
      const folder = folderOf(hash)
      const owners: string[] = []
      for (const name of await finishedIn(folder)) {
        const path = join(folder, name)
        const text = await ifPresent('read', path, () => readFile(path, 'utf8'))
        if (text !== undefined) owners.push(ownerIn(text, name))
      }
      return owners.sort()
    },

    async tidy() {
      await sweepTemporary(dir)
      for (const hash of await finishedIn(dir)) await removeEmpty(folderOf(hash))
    },
  }
}

// The last unpin, and every collection, removes an empty folder, at any moment until our file is in it: then it is made again.
// Without a pause between the two calls, so that collections that do nothing else cannot win for long.
function moveIn(staged: string, path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(dirname(path), { recursive: true }) // it too fails where the folder goes while it looks whether there is one
      renameSync(staged, path)
      return
    } catch (cause) {
      if (systemCode(cause) !== 'ENOENT' || attempt === 1000) throw cause
    }
  }
}

async function finishedIn(folder: string): Promise<string[]> {
  return (await namesIn(folder)).filter((name) => !isTemporary(name))
}

// What is not ours still counts as a pin, under its file name: better kept than lost.
function ownerIn(text: string, name: string): string {
  try {
    const owner: unknown = JSON.parse(text)
    return typeof owner === 'string' ? owner : name
  } catch {
    return name
  }
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (cause) {
    const code = systemCode(cause)
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw fileError('delete', folder, cause)
  }
}

// Where blobs lie, and how one that is dying comes back. The reasons are in blobs.ts.
const namePattern = /^(?<hash>[0-9a-f]{64})(?<dying>\.[0-9a-f]{16}\.dying)?$/

export function blobPlace(dir: string, hash: Sha256): { folder: string; path: string } {
  const folder = join(dir, hash.slice(0, 2))
  return { folder, path: join(folder, hash) }
}

/** Names that a blob lies under: its hash, and dying names of collections that are under way or were killed. */
type BlobNames = { hash: Sha256; placed: boolean; dying: string[] }

export async function* listBlobs(dir: string): AsyncIterable<BlobNames> {
  for (const prefix of (await blobNames(dir)).sort()) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue
    const blobs = new Map<Sha256, BlobNames>()
    for (const name of (await blobNames(join(dir, prefix))).sort()) {
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

export async function dyingNames(dir: string, hash: Sha256): Promise<string[]> {
  const names = await blobNames(blobPlace(dir, hash).folder)
  return names.filter((name) => name.startsWith(`${hash}.`) && namePattern.test(name))
}

/** Moves a blob to a dying name that is used this once. Undefined when it is gone. */
async function condemnBlob(dir: string, hash: Sha256): Promise<string | undefined> {
  const { folder, path } = blobPlace(dir, hash)
  const name = `${hash}.${randomBytes(8).toString('hex')}.dying`
  return (await unlessGone('delete', path, () => rename(path, join(folder, name)))) ? name : undefined
}

/** Moves a dying blob back to its place. False when it is gone: deleted, or brought back by another process. */
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

async function unlessGone(action: string, path: string, work: () => Promise<unknown>): Promise<boolean> {
  return (await ifPresent(action, path, () => work().then(() => true))) ?? false
}

async function blobNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw fileError('list', folder, cause)
  }
}

// Deletes blobs without a pin. Why this is safe beside any number of writers and readers is explained in blobs.ts.
export type CollectOptions = {
  /** Unpinned blobs younger than this stay: an owner may be about to pin them. */
  graceMs: number
  clock?: Pick<Clock, 'now'> | undefined
}

export type Collected = { deleted: number; freedBytes: number; kept: number }

export async function collectBlobs(
  dir: string,
  pins: Pins,
  { graceMs, clock = systemClock }: CollectOptions,
): Promise<Collected> {
  if (!(graceMs >= 0)) throw new RangeError(`graceMs must not be negative, but is ${graceMs}`)
  const total: Collected = { deleted: 0, freedBytes: 0, kept: 0 }

  // The size of a file that may go, undefined for one that must stay or is gone.
  const expendable = async (hash: Sha256, path: string): Promise<number | undefined> => {
    const found = await ifPresent('inspect', path, () => stat(path))
    // A time in the future gives a negative age: after a clock was set back, blobs stay longer.
    if (found === undefined || clock.now() - found.mtimeMs < graceMs || (await pins.has(hash))) return undefined
    return found.size
  }

  // Deletes or brings back one dying file; true when it was brought back.
  const decide = async (hash: Sha256, name: string): Promise<boolean> => {
    const path = join(blobPlace(dir, hash).folder, name)
    const sizeBytes = await expendable(hash, path)
    if (sizeBytes === undefined) return restoreBlob(dir, name)
    if (await unlessGone('delete', path, () => unlink(path))) {
      total.deleted += 1
      total.freedBytes += sizeBytes
    }
    return false
  }

  for await (const { hash, placed, dying } of listBlobs(dir)) {
    let kept = false
    for (const name of dying) if (await decide(hash, name)) kept = true
    if (placed && (await expendable(hash, blobPlace(dir, hash).path)) !== undefined) {
      const name = await condemnBlob(dir, hash)
      if (name !== undefined && (await decide(hash, name))) kept = true
    } else if (placed) kept = true
    if (kept) total.kept += 1
  }
  await sweepTemporary(dir)
  await pins.tidy()
  return total
}
