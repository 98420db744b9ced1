// Streams: the numbered items of one run or one experiment, and how far they have arrived.
import type { ExperimentEvent, RunEvent } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { checkedName } from './checked-name.ts'
import type { Database, Queryable } from './database.ts'

export interface Cursor {
  readonly nextItem: number
  readonly nextEvent: number
}

const START: Cursor = { nextItem: 1, nextEvent: 1 }

export async function readCursor(query: Queryable, stream: string): Promise<Cursor> {
  const row = await query.selectFrom('stream').selectAll().where('name', '=', stream).executeTakeFirst()
  return row === undefined ? START : { nextItem: row.next_item, nextEvent: row.next_event }
}

/** The cursor, which nobody else moves until the transaction ends. A stream begins with its first writer. */
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
export function ownerOf(stream: string): { kind: 'run' | 'experiment'; id: string } {
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
