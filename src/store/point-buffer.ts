// Metric points gathered before they are written: one transaction for many points instead of one each. A reader may see them
// a quarter of a second late; `flush` and disposal wait until everything is written.
import type { PointBatch } from '../contracts/index.ts'
import type { Database } from './database.ts'
import { writePoints } from './write-points.ts'

const FLUSH_MS = 250
const FLUSH_POINTS = 10_000

export interface PointBuffer extends AsyncDisposable {
  /** Resolves when the points are in the buffer and it has room again; rejects once an earlier write failed. */
  add(batch: PointBatch): Promise<void>
  flush(): Promise<void>
}

export function createPointBuffer(database: Database): PointBuffer {
  let waiting: PointBatch[] = []
  let count = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    const batches = waiting
    waiting = []
    count = 0
    if (batches.length > 0) {
      writing = writing.then(() =>
        database.transaction(async (query) => {
          for (const batch of batches) await writePoints(database, query, batch)
        }),
      )
    }
    return writing
  }
  const flushLater = () => {
    flush().catch(() => {}) // stays rejected: the next add or flush reports it
  }

  return {
    async add(batch) {
      waiting.push(batch)
      count += batch.key.length
      if (count >= FLUSH_POINTS) await flush()
      else timer ??= setTimeout(flushLater, FLUSH_MS)
    },
    flush,
    async [Symbol.asyncDispose]() {
      await flush()
    },
  }
}
