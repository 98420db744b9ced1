// The API of the task `moby`: that of language tasks, with as many bytes for every experiment. So a seed gives the same score on a busy
// machine as on a free one; the seconds are only a cap.
import { isDryRun, getTrainLoader as windowsOf } from './evsys-text.mjs'

export * from './evsys-text.mjs'

/** Bytes that one experiment may predict while it trains, counted as often as they are seen. */
export const bytesAllowed = isDryRun ? 4096 : 160_000

let seen = 0

/** Share of the bytes that were given out, from 0 to 1: for schedules. */
export function progress() {
  return seen / bytesAllowed
}

/**
 * Batches of windows from random places until the bytes or the seconds are used up.
 * @param {{ batchSize: number, length: number }} options `length`: bytes that are predicted in a window
 * @returns {Generator<Uint8Array[]>}
 */
export function* getTrainLoader({ batchSize, length }) {
  for (const windows of windowsOf({ batchSize, length })) {
    if (seen + batchSize * length > bytesAllowed) return
    seen += batchSize * length
    yield windows
  }
}
