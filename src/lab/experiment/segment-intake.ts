// From the segment of a run into the record, in order, a batch per transaction.
import type { Item } from '../../contracts/index.ts'
import type { Lease, OpenStore, RunRow } from '../../store/index.ts'
import { readSegment } from '../worker/segment-reader.ts'

export interface Intake {
  /** There is more to read. */
  poke(): void
  /** Stores what is there by now; an error of this or an earlier reading. */
  drain(): Promise<void>
  close(): Promise<void>
}

export interface IntakeOptions {
  readonly store: Pick<OpenStore, 'push'>
  readonly lease: Lease
  /** Sees every item once it is stored. */
  onItem(row: RunRow, item: Item): void
}

/** Items per transaction. */
const BATCH = 500

/** Reads `file` from item `from` on. `onFailed` hears of the first failure; nothing is stored after it. */
export function createIntake(
  row: RunRow,
  file: string,
  from: number,
  { store, lease, onItem }: IntakeOptions,
  onFailed: (error: unknown) => void = () => {},
): Intake {
  const stream = `run:${row.id}`
  const reader = readSegment(file, from, { runId: row.id })
  let next = from
  let working: Promise<void> = Promise.resolve()
  let isAsked = false

  const take = async () => {
    for (;;) {
      const items = await reader.next(BATCH)
      if (items.length === 0) return
      const { nextSeq } = await store.push({ stream, fromSeq: next, items }, lease)
      next = nextSeq
      for (const item of items) onItem(row, item)
    }
  }
  const ask = () => {
    working = working.then(() => {
      isAsked = false
      return take()
    })
    return working
  }
  return {
    poke() {
      if (isAsked) return
      isAsked = true
      ask().catch(onFailed) // `drain` throws it
    },
    drain: ask,
    async close() {
      await working.catch(() => {}) // told by `drain`
      await reader.close()
    },
  }
}
