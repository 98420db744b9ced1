// Which rows a step trains on. Each epoch has its own order, keyed by seed and epoch: a step's rows follow from its number
// alone, so a run that resumes in the middle sees the rows it would have seen.
import type { Random } from '../../contracts/index.ts'

export interface BatchOrder {
  /** Indices of the `size` rows of a 0-based step. */
  rowsOf(step: number, size: number): number[]
}

export function createBatchOrder(rowCount: number, random: (epoch: number) => Random): BatchOrder {
  const orders = new Map<number, readonly number[]>()
  const orderOf = (epoch: number) => {
    const known = orders.get(epoch)
    if (known !== undefined) return known
    const order = random(epoch).shuffle(Array.from({ length: rowCount }, (_, i) => i))
    if (orders.size > 2) orders.clear() // steps go forward; a rollback makes the order again
    orders.set(epoch, order)
    return order
  }
  return {
    rowsOf(step, size) {
      // Whole batches per epoch; data smaller than a batch goes round within it.
      const perEpoch = Math.max(1, Math.floor(rowCount / size))
      const order = orderOf(Math.floor(step / perEpoch))
      const first = (step % perEpoch) * size
      return Array.from({ length: size }, (_, i) => order[(first + i) % rowCount] ?? 0)
    },
  }
}
