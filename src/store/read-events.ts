// Events as they were emitted. A step's metrics are put back from the points, so that a replay equals what was live.
import { ExperimentEvent, type Metrics, RunEvent } from '../contracts/index.ts'
import type { Database } from './database.ts'

export async function readEvents(
  database: Database,
  { stream, afterSeq, limit }: { stream: string; afterSeq: number; limit: number },
): Promise<(RunEvent | ExperimentEvent)[]> {
  const rows = await database.query
    .selectFrom('event')
    .select(['type', 'body'])
    .where('stream', '=', stream)
    .where('seq', '>', afterSeq)
    .orderBy('seq')
    .limit(limit)
    .execute()
  const bodies = rows.map((row) => JSON.parse(row.body) as { type: string; run_id?: string; step?: number })
  const steps = bodies.flatMap((body) => (body.type === 'step.finished' && body.step !== undefined ? [body.step] : []))
  const runId = bodies.find((body) => body.run_id !== undefined)?.run_id
  const metrics = runId === undefined ? new Map<number, Metrics>() : await metricsOf(database, runId, steps)
  const schema = stream.startsWith('experiment:') ? ExperimentEvent : RunEvent
  return bodies.map((body) =>
    schema.parse(body.type === 'step.finished' ? { ...body, metrics: metrics.get(body.step ?? -1) ?? {} } : body),
  )
}

async function metricsOf(database: Database, runId: string, steps: readonly number[]): Promise<Map<number, Metrics>> {
  const found = new Map<number, Metrics>()
  if (steps.length === 0) return found
  const rows = await database.query
    .selectFrom('point')
    .innerJoin('run', 'run.ix', 'point.run_ix')
    .innerJoin('metric_key', 'metric_key.ix', 'point.key_ix')
    .select(['point.step', 'metric_key.name', 'point.value'])
    .where('run.id', '=', runId)
    .where('point.step', '>=', Math.min(...steps))
    .where('point.step', '<=', Math.max(...steps))
    .execute()
  for (const { step, name, value } of rows) found.set(step, { ...found.get(step), [name]: value })
  return found
}
