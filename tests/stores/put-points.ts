import type { PointBatch, Store } from '../../src/contracts/index.ts'

/** Puts points at the end of the stream of their run. */
export async function putPoints(store: Store, batch: PointBatch): Promise<void> {
  const stream = `run:${batch.run_id}`
  const { nextItem } = await store.cursor(stream)
  await store.push({ stream, fromSeq: nextItem, items: [batch] })
}
