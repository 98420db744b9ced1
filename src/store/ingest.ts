// Exactly-once arrival. The sender numbers its items; the cursor moves in the transaction that stores them. What came before
// is skipped, so a sender that does not know what was acknowledged simply sends again; a gap is refused.
import type { Ack, Item, PointBatch } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { applyEvent } from './apply-event.ts'
import type { Database, Queryable } from './database.ts'
import { writePoints } from './write-points.ts'

export interface ItemBatch {
  readonly stream: string
  readonly fromSeq: number
  readonly items: readonly Item[]
}

/** Stores the items of a batch that are new. */
export function ingest(database: Database, batch: ItemBatch): Promise<Ack> {
  return database.transaction(async (query) => {
    const cursor = await readCursor(database, query, batch.stream)
    if (batch.fromSeq > cursor.next_item) {
      throw new EvsysError(
        'STORE_CONFLICT',
        `stream ${batch.stream}: items ${cursor.next_item} to ${batch.fromSeq - 1} are missing`,
        { fix: 'send again from the first missing item' },
      )
    }
    const fresh = batch.items.slice(cursor.next_item - batch.fromSeq)
    let nextEvent = cursor.next_event
    for (const item of fresh) {
      if (item.type === 'points') await writePoints(database, query, item)
      else {
        await storeEvent(database, query, batch.stream, nextEvent, item)
        nextEvent += 1
      }
    }
    const nextSeq = Math.max(cursor.next_item, batch.fromSeq + batch.items.length)
    await writeCursor(query, batch.stream, nextSeq, nextEvent)
    return { stream: batch.stream, nextSeq }
  })
}

/** Appends events of one writer that knows the stream's end. */
export async function append(
  database: Database,
  stream: string,
  expectedSeq: number,
  events: readonly Exclude<Item, PointBatch>[],
): Promise<void> {
  await database.transaction((query) => appendWithin(database, query, stream, expectedSeq, events))
}

/** The same inside a transaction that also writes other rows. */
export async function appendWithin(
  database: Database,
  query: Queryable,
  stream: string,
  expectedSeq: number,
  events: readonly Exclude<Item, PointBatch>[],
): Promise<void> {
  const cursor = await readCursor(database, query, stream)
  const isRepeat = cursor.next_event - 1 === expectedSeq + events.length
  if (isRepeat && (await holds(query, stream, events))) return
  if (cursor.next_event - 1 !== expectedSeq) {
    throw new EvsysError('STORE_CONFLICT', `stream ${stream} is at ${cursor.next_event - 1}, not at ${expectedSeq}`, {
      fix: 'another process writes to this stream: stop one of the two',
    })
  }
  let seq = cursor.next_event
  for (const event of events) {
    await storeEvent(database, query, stream, seq, event)
    seq += 1
  }
  await writeCursor(query, stream, cursor.next_item + events.length, seq)
}

async function storeEvent(
  database: Database,
  query: Queryable,
  stream: string,
  seq: number,
  event: Exclude<Item, PointBatch>,
): Promise<void> {
  if (event.seq !== seq) {
    throw new EvsysError('STORE_CONFLICT', `stream ${stream}: event ${event.seq} arrived where ${seq} belongs`)
  }
  // A step's metrics are rows of `point`; storing them here again would double the record.
  const body = event.type === 'step.finished' ? { ...event, metrics: undefined } : event
  await query
    .insertInto('event')
    .values({ stream, seq, type: event.type, at: event.at, body: JSON.stringify(body) })
    .execute()
  await applyEvent(database, query, event)
}

async function holds(query: Queryable, stream: string, events: readonly { seq: number; type: string; at: string }[]) {
  const first = events[0]
  if (first === undefined) return true
  const stored = await query
    .selectFrom('event')
    .select(['type', 'at'])
    .where('stream', '=', stream)
    .where('seq', '>=', first.seq)
    .orderBy('seq')
    .execute()
  return events.every((event, i) => stored[i]?.type === event.type && stored[i]?.at === event.at)
}

async function readCursor(database: Database, query: Queryable, stream: string) {
  const select = query.selectFrom('stream').select(['next_item', 'next_event']).where('name', '=', stream)
  const row = await (database.kind === 'postgres' ? select.forUpdate() : select).executeTakeFirst()
  return row ?? { next_item: 1, next_event: 1 }
}

async function writeCursor(query: Queryable, name: string, nextItem: number, nextEvent: number): Promise<void> {
  await query
    .insertInto('stream')
    .values({ name, next_item: nextItem, next_event: nextEvent })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ next_item: nextItem, next_event: nextEvent }))
    .execute()
}
