// Exactly-once arrival. The sender numbers its items; the cursor moves in the transaction that stores them. What came before
// is skipped, so a sender that does not know what was acknowledged simply sends again; a gap is refused.
import type { Ack, ExperimentEvent, Item, Lease, PointBatch, RunEvent } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { applyEvent, takesBack } from './apply-event.ts'
import { checkNumbers } from './check-numbers.ts'
import type { Database, PointRow, Queryable } from './database.ts'
import { requireHeld } from './leases.ts'
import type { PointNumbers } from './point-numbers.ts'
import { lockCursor, moveCursor, requireOwn } from './streams.ts'
import { numberPoints, writePoints } from './write-points.ts'

export interface ItemBatch {
  readonly stream: string
  readonly fromSeq: number
  readonly items: readonly Item[]
}

/** An item, and the points that it brings. */
export interface Prepared {
  readonly event?: RunEvent | ExperimentEvent
  readonly points: readonly PointRow[]
}

/** Stores the items of a batch that are new. */
export async function ingest(
  database: Database,
  numbers: PointNumbers,
  { stream, fromSeq, items }: ItemBatch,
  under?: Lease,
): Promise<Ack> {
  if (!Number.isSafeInteger(fromSeq) || fromSeq < 1) {
    throw new EvsysError('DATA_INVALID', `stream ${stream}: items are numbered from 1, not from ${fromSeq}`)
  }
  const prepared = await prepareItems(numbers, stream, items)
  return database.transaction(async (query) => {
    if (under !== undefined) await requireHeld(database, query, under)
    const cursor = await lockCursor(database, query, stream)
    if (fromSeq > cursor.nextItem) {
      throw new EvsysError(
        'STORE_CONFLICT',
        `stream ${stream}: items ${cursor.nextItem} to ${fromSeq - 1} are missing`,
        { fix: 'send again from the first missing item.' },
      )
    }
    const fresh = prepared.slice(cursor.nextItem - fromSeq)
    if (fresh.length === 0) return { stream, nextSeq: cursor.nextItem }
    const nextEvent = await storeItems(database, query, stream, cursor.nextEvent, fresh)
    const nextItem = cursor.nextItem + fresh.length
    await moveCursor(query, stream, { nextItem, nextEvent })
    return { stream, nextSeq: nextItem }
  })
}

/** Checks items and numbers their points, before the transaction that stores them. */
export async function prepareItems(numbers: PointNumbers, stream: string, items: readonly Item[]): Promise<Prepared[]> {
  const prepared: Prepared[] = []
  for (const item of items) {
    if (item.type === 'points') {
      if (stream !== `run:${item.run_id}`) {
        throw new EvsysError('DATA_INVALID', `points of run ${item.run_id} arrived in the stream ${stream}`)
      }
      prepared.push({ points: await numberPoints(numbers, item) })
    } else {
      requireOwn(stream, item)
      checkNumbers(item)
      const points = item.type === 'step.finished' ? await numberPoints(numbers, pointsOf(item)) : []
      prepared.push({ event: item, points })
    }
  }
  return prepared
}

function pointsOf({ run_id, step, metrics, at }: Extract<RunEvent, { type: 'step.finished' }>): PointBatch {
  const key = Object.keys(metrics)
  const atMs = Math.max(0, Date.parse(at))
  return {
    type: 'points',
    run_id,
    key,
    step: key.map(() => step),
    value: Object.values(metrics),
    at_ms: key.map(() => atMs),
  }
}

/** Stores items in their order inside a transaction. Returns the number of the next event. */
export async function storeItems(
  database: Database,
  query: Queryable,
  stream: string,
  firstEvent: number,
  items: readonly Prepared[],
): Promise<number> {
  let nextEvent = firstEvent
  let points: PointRow[] = []
  const events: (RunEvent | ExperimentEvent)[] = []
  for (const item of items) {
    if (item.event !== undefined) {
      if (item.event.seq !== nextEvent) {
        throw new EvsysError(
          'STORE_CONFLICT',
          `stream ${stream}: event ${item.event.seq} arrived where ${nextEvent} belongs`,
        )
      }
      nextEvent += 1
      events.push(item.event)
      if (takesBack(item.event)) {
        await writePoints(database, query, points)
        points = []
      }
      await applyEvent(database, query, item.event)
    }
    for (const point of item.points) points.push(point)
  }
  await writePoints(database, query, points)
  await insertEvents(query, stream, events)
  return nextEvent
}

const EVENTS_AT_ONCE = 50

async function insertEvents(
  query: Queryable,
  stream: string,
  events: readonly (RunEvent | ExperimentEvent)[],
): Promise<void> {
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
    const rows = events
      .slice(start, start + EVENTS_AT_ONCE)
      .map((event) => ({ stream, seq: event.seq, type: event.type, at: event.at, body: JSON.stringify(event) }))
    await query.insertInto('event').values(rows).execute()
  }
}
