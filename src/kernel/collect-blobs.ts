// Deletes blobs that nobody pins. Why this is safe beside any number of writers and readers is told in blobs.ts.
import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sha256 } from '../contracts/index.ts'
import type { Pins } from './blob-pins.ts'
import { blobPlace, condemnBlob, listBlobs, restoreBlob, unlessGone } from './blob-place.ts'
import { type Clock, systemClock } from './clock.ts'
import { sweepTemporary } from './temporary-file.ts'

export type CollectOptions = {
  /** Unpinned blobs younger than this stay: somebody may be about to pin them. */
  graceMs: number
  clock?: Pick<Clock, 'now'>
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
    let found: { size: number; mtimeMs: number } | undefined
    await unlessGone('look at', path, async () => {
      found = await stat(path)
    })
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
