// Garbage: what the record no longer needs. Nothing that a conclusion rests on is ever collected.
import { sql } from 'kysely'
import type { Collected } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import type { Database } from './database.ts'

/** Drops log lines of experiments and jobs that ended before `before`, and the names of checkpoints that are gone. */
export async function collect(database: Database, options: { before: string }): Promise<Collected> {
  const beforeMs = Date.parse(options.before)
  if (Number.isNaN(beforeMs)) throw new EvsysError('DATA_INVALID', `"${options.before}" is no time`)
  const before = new Date(beforeMs).toISOString()
  return database.transaction(async (query) => {
    const logs = await sql`
      delete from event where type = 'log' and stream in (
        select 'run:' || run.id from run join experiment on experiment.id = run.experiment_id
        where experiment.finished_at < ${before})`.execute(query)
    const checkpoints = await query.deleteFrom('checkpoint').where('dropped', '=', 1).executeTakeFirst()
    const jobs = await query
      .deleteFrom('job')
      .where('state', 'in', ['done', 'cancelled'])
      .where('ended_at_ms', '<', beforeMs)
      .executeTakeFirst()
    return {
      events: Number(logs.numAffectedRows ?? 0),
      checkpoints: Number(checkpoints.numDeletedRows),
      jobs: Number(jobs.numDeletedRows),
    }
  })
}
