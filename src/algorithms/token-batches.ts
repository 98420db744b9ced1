// Batches by their tokens: each takes the rows that follow, in the order of its epoch, until the next one would be too much. Rows
// stay sequences of their own: the training protocol has no way to keep two documents in one sequence apart.
import type { Random } from '../contracts/index.ts'

export interface TokenBatchesOptions {
  /** Tokens of each row; 0: nothing to train on, the row is in no batch. */
  readonly lengths: readonly number[]
  /** Most tokens of a batch. A row that is longer makes one alone. */
  readonly budget: number
  random(epoch: number): Random
}

export interface TokenBatches {
  /** Rows of a 0-based batch, counted over all epochs. */
  rowsOf(batch: number): readonly number[]
  /** Batches in the first epochs. */
  count(epochs: number): number
}

export function createTokenBatches({ lengths, budget, random }: TokenBatchesOptions): TokenBatches {
  const kept = lengths.flatMap((length, row) => (length > 0 ? [row] : []))
  const epochs: (readonly (readonly number[])[])[] = []
  const batchesOf = (epoch: number) => {
    epochs[epoch] ??= packed(random(epoch).shuffle(kept), lengths, budget)
    return epochs[epoch]
  }
  return {
    rowsOf(batch) {
      if (kept.length === 0) return []
      let left = batch
      for (let epoch = 0; ; epoch++) {
        const batches = batchesOf(epoch)
        const found = batches[left]
        if (found !== undefined) return found
        left -= batches.length
      }
    },
    count: (number) => Array.from({ length: number }, (_, i) => batchesOf(i).length).reduce((a, b) => a + b, 0),
  }
}

function packed(order: readonly number[], lengths: readonly number[], budget: number): number[][] {
  const batches: number[][] = []
  let room = 0
  for (const row of order) {
    const length = lengths[row] ?? 0
    const last = batches.at(-1)
    if (last !== undefined && length <= room) last.push(row)
    else {
      batches.push([row])
      room = budget
    }
    room -= length
  }
  return batches
}
