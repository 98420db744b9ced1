// Streams: the numbered items of one run or one experiment, and how far they have arrived.
import { ExperimentEvent, RunEvent } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database, Queryable } from './database/database.ts'
import { checkedName, parseStored } from './database/stored-values.ts'

interface Cursor {
  readonly nextItem: number
  readonly nextEvent: number
}

const START: Cursor = { nextItem: 1, nextEvent: 1 }

export async function readCursor(query: Queryable, stream: string): Promise<Cursor> {
  const row = await query.selectFrom('stream').selectAll().where('name', '=', stream).executeTakeFirst()
  return row === undefined ? START : { nextItem: row.next_item, nextEvent: row.next_event }
}

/** The cursor, which no one else moves until the transaction ends. A stream begins with its first writer. */
export async function lockCursor(database: Database, query: Queryable, stream: string): Promise<Cursor> {
  const read = () => {
    const select = query.selectFrom('stream').selectAll().where('name', '=', stream)
    return (database.kind === 'postgres' ? select.forUpdate() : select).executeTakeFirst()
  }
  let row = await read()
  if (row === undefined) {
    await requireOwner(query, stream)
    // Two first writers on PostgreSQL: the second waits here until the first is done, then reads what it left.
    await query
      .insertInto('stream')
      .values({ name: stream, next_item: START.nextItem, next_event: START.nextEvent })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
    row = await read()
  }
  return row === undefined ? START : { nextItem: row.next_item, nextEvent: row.next_event }
}

export async function moveCursor(query: Queryable, stream: string, { nextItem, nextEvent }: Cursor): Promise<void> {
  await query
    .updateTable('stream')
    .set({ next_item: nextItem, next_event: nextEvent })
    .where('name', '=', stream)
    .execute()
}

/** What a stream belongs to: `run:<id>` or `experiment:<id>`. */
function ownerOf(stream: string): { kind: 'run' | 'experiment'; id: string } {
  const [, kind, id] = /^(run|experiment):(.+)$/s.exec(checkedName('stream name', stream)) ?? []
  if ((kind === 'run' || kind === 'experiment') && id !== undefined) return { kind, id }
  throw new EvsysError('DATA_INVALID', `"${stream}" is no stream`, { fix: 'use run:<id> or experiment:<id>.' })
}

/** An error unless an event belongs to its stream: a worker writes about its own run alone. */
export function requireOwn(stream: string, event: RunEvent | ExperimentEvent): void {
  const { kind, id } = ownerOf(stream)
  const owner = 'experiment_id' in event ? `experiment:${event.experiment_id}` : `run:${event.run_id}`
  if (owner === `${kind}:${id}`) return
  throw new EvsysError('DATA_INVALID', `an event of ${owner} arrived in the stream ${stream}`)
}

async function requireOwner(query: Queryable, stream: string): Promise<void> {
  const { kind, id } = ownerOf(stream)
  const row = await query.selectFrom(kind).select('id').where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw new EvsysError('STORE_MISSING', `the record has no ${kind} ${id}`)
}

// Events as they were emitted, so that a replay equals what was live.
interface EventQuery {
  readonly stream: string
  readonly afterSeq: number
  readonly limit: number
  readonly types?: readonly (RunEvent | ExperimentEvent)['type'][] | undefined
}

export async function readEvents(
  database: Database,
  { stream, afterSeq, limit, types }: EventQuery,
): Promise<(RunEvent | ExperimentEvent)[]> {
  const owner = ownerOf(stream)
  if (types?.length === 0) return []
  let query = database.query
    .selectFrom('event')
    .select(['seq', 'at', 'body'])
    .where('stream', '=', stream)
    .where('seq', '>', afterSeq)
  if (types !== undefined) query = query.where('type', 'in', types)
  const rows = await query.orderBy('seq').limit(limit).execute()
  const schema = owner.kind === 'experiment' ? ExperimentEvent : RunEvent
  const events: (RunEvent | ExperimentEvent)[] = []
  let next = afterSeq + 1
  for (const { seq, at, body } of rows) {
    if (types === undefined)
      for (; next < seq && events.length < limit; next++) events.push(collected(owner.id, next, at))
    if (events.length >= limit) break
    events.push(parseStored(schema, body, `event ${seq} of ${stream}`))
    next = seq + 1
  }
  return events
}

// Events are numbered without gaps. Where a log line was dropped by `collect`, its place stays.
function collected(run_id: string, seq: number, at: string): RunEvent {
  return { type: 'log', seq, at, run_id, level: 'debug', text: '(dropped by gc)' }
}
