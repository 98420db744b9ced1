// Exactly-once arrival. The sender numbers its items; the cursor moves in the transaction that stores them. What came before
// is skipped, so a sender that does not know what was acknowledged simply sends again; a gap is refused.
import type { Ack, ExperimentEvent, Item, Lease, PointBatch, RunEvent } from '../contracts/index.ts'
import { EvsysError, hashOf } from '../kernel/index.ts'
import { applyEvent, takesBack } from './apply-event.ts'
import type { Database, PointRow, Queryable } from './database/database.ts'
import { requireHeld } from './jobs/leases.ts'
import { lockCursor, moveCursor, requireOwn } from './streams.ts'
import { numberPoints, type PointNumbers, writePoints } from './write-points.ts'

type StreamEvent = RunEvent | ExperimentEvent

interface ItemBatch {
  readonly stream: string
  readonly fromSeq: number
  readonly items: readonly Item[]
}

/** An item, and the points that it brings. */
interface Prepared {
  readonly event?: StreamEvent | undefined
  readonly points: readonly PointRow[]
}

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
      const missing = `items ${cursor.nextItem} to ${fromSeq - 1} are missing`
      const fix = 'send again from the first missing item.'
      throw new EvsysError('STORE_CONFLICT', `stream ${stream}: ${missing}`, { fix })
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
async function prepareItems(numbers: PointNumbers, stream: string, items: readonly Item[]): Promise<Prepared[]> {
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
async function storeItems(
  database: Database,
  query: Queryable,
  stream: string,
  firstEvent: number,
  items: readonly Prepared[],
): Promise<number> {
  let nextEvent = firstEvent
  let points: PointRow[] = []
  const events: StreamEvent[] = []
  for (const item of items) {
    if (item.event !== undefined) {
      if (item.event.seq !== nextEvent) {
        const what = `event ${item.event.seq} arrived where ${nextEvent} belongs`
        throw new EvsysError('STORE_CONFLICT', `stream ${stream}: ${what}`)
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

async function insertEvents(query: Queryable, stream: string, events: readonly StreamEvent[]): Promise<void> {
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
    const rows = events
      .slice(start, start + EVENTS_AT_ONCE)
      .map((event) => ({ stream, seq: event.seq, type: event.type, at: event.at, body: JSON.stringify(event) }))
    await query.insertInto('event').values(rows).execute()
  }
}

// Appending to a stream by its one writer, who knows where it ends. Sending the same events again is no conflict: the answer to
// the first time may have been lost.
export async function append(
  database: Database,
  numbers: PointNumbers,
  { stream, expectedSeq, events }: { stream: string; expectedSeq: number; events: readonly StreamEvent[] },
  under?: Lease,
): Promise<void> {
  const prepared = await prepareItems(numbers, stream, events)
  await database.transaction(async (query) => {
    if (under !== undefined) await requireHeld(database, query, under)
    await appendWithin(database, query, stream, expectedSeq, prepared)
  })
}

/** The same inside a transaction that also writes other rows. */
export async function appendWithin(
  database: Database,
  query: Queryable,
  stream: string,
  expectedSeq: number,
  prepared: readonly Prepared[],
): Promise<void> {
  const { nextItem, nextEvent } = await lockCursor(database, query, stream)
  const isAt = nextEvent - 1
  if (isAt !== expectedSeq) {
    if (isAt > expectedSeq && (await holds(query, stream, prepared))) return
    throw new EvsysError('STORE_CONFLICT', `stream ${stream} is at ${isAt}, not at ${expectedSeq}`, {
      fix: 'another process writes to this stream: stop one of the two.',
    })
  }
  const next = await storeItems(database, query, stream, nextEvent, prepared)
  await moveCursor(query, stream, { nextItem: nextItem + prepared.length, nextEvent: next })
}

async function holds(query: Queryable, stream: string, prepared: readonly Prepared[]): Promise<boolean> {
  const events = prepared.flatMap(({ event }) => event ?? [])
  const [first] = events
  if (first === undefined) return true
  const stored = await query
    .selectFrom('event')
    .select('body')
    .where('stream', '=', stream)
    .where('seq', '>=', first.seq)
    .orderBy('seq')
    .limit(events.length)
    .execute()
  return events.length === stored.length && events.every((event, i) => isSame(event, stored[i]?.body))
}

function isSame(event: StreamEvent, body: string | undefined): boolean {
  return body !== undefined && hashOf(JSON.parse(body)) === hashOf(JSON.parse(JSON.stringify(event)))
}

// Numbers of events before they enter the record. JSON has no word for what is no number and writes null: a score would be stored
// as a damaged row, and a reward as one that infrastructure failed to give.
/** An error unless every number of an event is finite. */
function checkNumbers(event: StreamEvent): void {
  const path = oddNumber(event)
  if (path === undefined) return
  throw new EvsysError('DATA_INVALID', `event ${event.seq}, ${event.type}: ${path.join('.')} is no finite number`, {
    fix: 'leave a metric out that has no value.',
  })
}

function oddNumber(value: unknown): string[] | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, each] of Object.entries(value)) {
    const below = oddNumber(each)
    if (below !== undefined) return [key, ...below]
  }
  return undefined
}
