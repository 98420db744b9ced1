// Garbage: what the record no longer needs. Nothing that a conclusion rests on is ever collected.
import { sql } from 'kysely'
import type { Database } from './database.ts'

export interface Collected {
  readonly events: number
  readonly points: number
  readonly jobs: number
}

/** Drops log lines and events of experiments that finished before `before`, points without a run, and ended jobs. */
export function collect(database: Database, { before }: { before: string }): Promise<Collected> {
  return database.transaction(async (query) => {
    const logs = await sql`
      delete from event where type in ('log', 'rollout.finished') and stream in (
        select 'run:' || run.id from run join experiment on experiment.id = run.experiment_id
        where experiment.finished_at < ${before})`.execute(query)
    const points = await query
      .deleteFrom('point')
      .where('run_ix', 'not in', (expr) => expr.selectFrom('run').select('ix'))
      .executeTakeFirst()
    const jobs = await query.deleteFrom('job').where('state', 'in', ['done', 'cancelled']).executeTakeFirst()
    return {
      events: Number(logs.numAffectedRows ?? 0),
      points: Number(points.numDeletedRows),
      jobs: Number(jobs.numDeletedRows),
    }
  })
}

/** Rows per table and bytes in all, for `evsys du`. */
export async function usage(database: Database): Promise<{ bytes: number; rows: Record<string, number> }> {
  const tables = ['experiment', 'run', 'point', 'eval', 'checkpoint', 'event'] as const
  const rows: Record<string, number> = {}
  for (const table of tables) {
    const { n } = await database.query
      .selectFrom(table)
      .select((expr) => expr.fn.countAll<number>().as('n'))
      .executeTakeFirstOrThrow()
    rows[table] = Number(n)
  }
  return { bytes: await database.sizeBytes(), rows }
}
