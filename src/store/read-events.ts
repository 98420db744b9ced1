// Events as they were emitted, so that a replay equals what was live.
import { ExperimentEvent, RunEvent } from '../contracts/index.ts'
import type { Database } from './database.ts'
import { parseStored } from './parse-stored.ts'
import { ownerOf } from './streams.ts'

export interface EventQuery {
  readonly stream: string
  readonly afterSeq: number
  readonly limit: number
  readonly types?: readonly (RunEvent | ExperimentEvent)['type'][]
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
