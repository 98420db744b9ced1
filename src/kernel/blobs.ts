// Content-addressed bytes on disk, shared by any number of processes of one machine without a lock.
//
//   <dir>/ab/abcdef...              a blob, under the SHA-256 of its content
//   <dir>/ab/abcdef....<x>.dying    a blob that a collection is about to delete
//   <dir>/pins/<hash>/<owner>       a pin
//   <dir>/.evsys-*.tmp              a blob that is being written
//
// Why a collection never deletes what is pinned or was just put. A blob is deleted in three steps: (1) its name is moved away,
// to a dying name that is used once; (2) pins and age are looked at again; (3) the dying file is deleted, or moved back. A pin is
// made in two: (a) the pin file is written; (b) the blob must be in its place, or is moved back there from a dying name, else
// the pin fails. If (a) comes before (2), the collection sees the pin and moves the blob back. If (a) comes after (2), the
// blob was moved away before (b), so (b) either takes the dying name, and (3) finds nothing to delete, or comes too late and
// says that the blob is missing. A put renames a whole new file, with a new time, into place. Either the collection moved
// the older file away before, and deletes that one; or it moved the new file, sees its time at (2), and moves it back. A
// reader that comes while a blob is away moves it back likewise. A collection that is killed leaves a dying name, which the next one,
// or the next reader, treats in the same way. Names are made durable before a call returns.
//
// Not covered: network disks that show other machines an old listing of a folder.
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Blobs, Sha256 } from '../contracts/index.ts'
import { syncFolder, temporaryPath } from './atomic-file.ts'
import {
  blobPlace,
  type Collected,
  type CollectOptions,
  collectBlobs,
  dyingNames,
  listBlobs,
  openPins,
  restoreBlob,
} from './blob-pins.ts'
import { EvsysError } from './evsys-error.ts'
import { fileWork, ifPresent } from './file-error.ts'

export type BlobFolder = Blobs & {
  /** Stores bytes under their hash. With `owner` they are pinned before they appear, so no collection comes in between. */
  put(bytes: AsyncIterable<Uint8Array> | Uint8Array, options?: { owner?: string | undefined }): Promise<Sha256>
  /** The bytes of a blob. Read to the end: only there is it known that they match their hash, or `BLOB_CORRUPT` is thrown. */
  open(hash: Sha256): AsyncIterable<Uint8Array>
  has(hash: Sha256): Promise<boolean>
  size(hash: Sha256): Promise<number>
  /** Keeps a blob until the owner unpins it. `BLOB_MISSING` when it is not there (any more): put it again. */
  pin(hash: Sha256, owner: string): Promise<void>
  /** Ends a pin; one that is not there is fine. */
  unpin(hash: Sha256, owner: string): Promise<void>
  /** The owners that pin a blob, sorted. */
  pins(hash: Sha256): Promise<string[]>
  /** Deletes unpinned blobs older than the grace, and what dead writers left unfinished. */
  collect(options: CollectOptions): Promise<Collected>
  list(): AsyncIterable<{ hash: Sha256; sizeBytes: number }>
}

/** Opens, and makes if needed, a folder of blobs. Nothing has to be closed. */
export async function openBlobs(dir: string): Promise<BlobFolder> {
  await fileWork('create', dir, async () => {
    const created = await mkdir(dir, { recursive: true })
    if (created !== undefined) await syncFolder(dirname(created))
  })
  const pins = openPins(join(dir, 'pins'))

  return {
    async put(bytes, { owner } = {}) {
      const temporary = temporaryPath(dir)
      try {
        const hash = await writeHashed(temporary, bytes)
        if (owner !== undefined) await pins.add(hash, owner)
        await moveIntoPlace(temporary, dir, hash)
        return hash
      } catch (cause) {
        await unlink(temporary).catch(() => {}) // the first failure is the one to report
        throw cause
      }
    },

    async *open(hash) {
      await using file = await openPresent(dir, checked(hash))
      const digest = createHash('sha256')
      for (;;) {
        const chunk = await readChunk(file, dir, hash)
        if (chunk.length === 0) break
        digest.update(chunk)
        yield chunk
      }
      const found = digest.digest('hex')
      if (found !== hash) throw corrupt(dir, hash, found)
    },

    has: (hash) => isPresent(dir, checked(hash)),

    async size(hash) {
      await using file = await openPresent(dir, checked(hash))
      return (await file.stat()).size
    },

    async pin(hash, owner) {
      if (!(await isPresent(dir, checked(hash)))) throw missing(hash) // leaves no pin behind in the common case
      await pins.add(hash, owner)
      // Deleted in between. The pin stays: taking it back could take it from another process of this owner, which has put
      // and pinned the blob since; and a process that puts it again will pin it again.
      if (!(await isPresent(dir, hash))) throw missing(hash)
    },

    unpin: (hash, owner) => pins.remove(checked(hash), owner),
    pins: (hash) => pins.owners(checked(hash)),
    collect: (options) => collectBlobs(dir, pins, options),

    async *list() {
      for await (const { hash } of listBlobs(dir)) {
        try {
          await using file = await openPresent(dir, hash)
          yield { hash, sizeBytes: (await file.stat()).size }
        } catch (error) {
          if (!(EvsysError.is(error) && error.code === 'BLOB_MISSING')) throw error // collected meanwhile
        }
      }
    },
  }
}

function checked(hash: Sha256): Sha256 {
  if (Sha256.safeParse(hash).success) return hash
  throw new EvsysError('BLOB_MISSING', `${JSON.stringify(hash)} is not the address of a blob`, {
    fix: 'use the 64 hexadecimal digits that storing it returned.',
  })
}

async function writeHashed(path: string, bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<Sha256> {
  const digest = createHash('sha256')
  await using file = await fileWork('write', path, () => open(path, 'wx'))
  for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) {
    if (!(chunk instanceof Uint8Array)) throw new EvsysError('DATA_INVALID', 'a blob is made of bytes, in Uint8Array')
    digest.update(chunk)
    await fileWork('write', path, () => file.writeFile(chunk))
  }
  await fileWork('write', path, async () => {
    const now = new Date()
    await file.utimes(now, now) // its age counts from here, however long ago the last byte came
    await file.sync()
  })
  return digest.digest('hex')
}

// It replaces a blob that is there already: the new file is younger, and known to be whole.
async function moveIntoPlace(temporary: string, dir: string, hash: Sha256): Promise<void> {
  const place = blobPlace(dir, hash)
  await fileWork('write', place.path, async () => {
    await mkdir(place.folder, { recursive: true })
    await rename(temporary, place.path)
    await syncFolder(place.folder)
    await syncFolder(dir) // always: another process may have made the folder and not come to this line
  })
}

async function openPresent(dir: string, hash: Sha256): Promise<FileHandle> {
  const { path } = blobPlace(dir, hash)
  while (await isPresent(dir, hash)) {
    const file = await ifPresent('read', path, () => open(path, 'r'))
    if (file !== undefined) return file
  }
  throw missing(hash)
}

// In its place, or brought back to it. Absent only if neither place nor dying name was there three times: between two looks
// another process may move it either way.
async function isPresent(dir: string, hash: Sha256): Promise<boolean> {
  const { path } = blobPlace(dir, hash)
  for (let looks = 0; looks < 3; looks++) {
    if (await exists(path)) return true
    for (const name of await dyingNames(dir, hash)) if (await restoreBlob(dir, name)) looks = 0
  }
  return exists(path)
}

async function exists(path: string): Promise<boolean> {
  return (await ifPresent('inspect', path, () => stat(path))) !== undefined
}

function readChunk(file: FileHandle, dir: string, hash: Sha256): Promise<Uint8Array> {
  return fileWork('read', blobPlace(dir, hash).path, async () => {
    const buffer = new Uint8Array(65_536) // a new one each time: the reader may keep it
    const { bytesRead } = await file.read(buffer)
    return buffer.subarray(0, bytesRead)
  })
}

function missing(hash: Sha256): EvsysError {
  return new EvsysError('BLOB_MISSING', `there is no blob ${hash}`, {
    fix: 'create the data again; unpinned blobs are deleted by `evsys gc`.',
  })
}

function corrupt(dir: string, hash: Sha256, found: Sha256): EvsysError {
  return new EvsysError('BLOB_CORRUPT', `blob ${hash} is damaged: its bytes have the hash ${found}`, {
    fix: `delete ${blobPlace(dir, hash).path} and create the data again.`,
  })
}
