// Metric points gathered before they are written: one transaction for many points instead of one each. A reader may see them
// a quarter of a second late. Points whose write failed stay and are written with the next ones; `flush` and disposal resolve
// when everything is written, and reject when it cannot be.
import type { PointBatch } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database, PointRow } from './database/database.ts'
import { numberPoints, type PointNumbers, writePoints } from './write-points.ts'

const FLUSH_MS = 250
const FLUSH_POINTS = 10_000
/** Points that may wait while the database takes none; about 100 MB. */
const MOST_WAITING = 1_000_000

export interface PointBuffer extends AsyncDisposable {
  /** Resolves when the points are in the buffer and it has room again. */
  add(batch: PointBatch): Promise<void>
  flush(): Promise<void>
}

export function createPointBuffer(database: Database, numbers: PointNumbers): PointBuffer {
  let waiting: PointRow[] = []
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isClosed = false

  const write = async () => {
    const points = waiting
    waiting = []
    try {
      await database.transaction((query) => writePoints(database, query, points))
    } catch (error) {
      waiting = [...points, ...waiting]
      throw error
    }
  }
  const flush = async () => {
    clearTimeout(timer)
    timer = undefined
    await writing?.catch(() => {}) // it rejects for the one that waits for it
    if (waiting.length === 0) return
    writing ??= write().finally(() => {
      writing = undefined
    })
    await writing
  }

  return {
    async add(batch) {
      if (isClosed) throw new EvsysError('STORE_FAILED', 'the record is closed')
      const rows = await numberPoints(numbers, batch)
      if (waiting.length + rows.length > MOST_WAITING) await flush() // rejects when the database takes no more
      for (const row of rows) waiting.push(row)
      if (waiting.length >= FLUSH_POINTS) await flush()
      else timer ??= setTimeout(() => void flush().catch(() => {}), FLUSH_MS) // the points stay; the next flush reports it
    },
    flush,
    async [Symbol.asyncDispose]() {
      isClosed = true
      await flush()
    },
  }
}
