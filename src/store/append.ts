// Appending to a stream by its one writer, who knows where it ends. Sending the same events again is no conflict: the answer to
// the first time may have been lost.
import type { ExperimentEvent, Lease, RunEvent } from '../contracts/index.ts'
import { EvsysError, hashOf } from '../kernel/index.ts'
import type { Database, Queryable } from './database.ts'
import { type Prepared, prepareItems, storeItems } from './ingest.ts'
import { requireHeld } from './leases.ts'
import type { PointNumbers } from './point-numbers.ts'
import { lockCursor, moveCursor } from './streams.ts'

type StreamEvent = RunEvent | ExperimentEvent

/** Appends events that follow event `expectedSeq`. */
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
