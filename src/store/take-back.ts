// When training goes on from an earlier step, what came after that step is taken back: the tables then hold what they would hold
// had the run never gone further. Its events stay.
import type { Database, Queryable } from './database.ts'

/** Takes back everything of a run after `step`; all of it when no step is kept. */
export async function takeBack(
  database: Database,
  query: Queryable,
  runId: string,
  step: number | undefined,
): Promise<void> {
  const kept = step ?? -1
  await query.deleteFrom('checkpoint').where('run_id', '=', runId).where('step', '>', kept).execute()
  const evals = query.deleteFrom('eval').where('run_id', '=', runId)
  await (step === undefined ? evals : evals.where('step', '>', step)).execute() // those after training have step -1
  if (step === undefined) await query.updateTable('run').set({ metrics: '{}' }).where('id', '=', runId).execute()
  const run = await query.selectFrom('run').select('ix').where('id', '=', runId).executeTakeFirst()
  if (run !== undefined) await takePointsBack(database, query, run.ix, kept)
}

async function takePointsBack(database: Database, query: Queryable, runIx: number, kept: number): Promise<void> {
  const gone = await query
    .deleteFrom('point_rollup')
    .where('run_ix', '=', runIx)
    .where((row) => row(row('bucket', '*', row.ref('width')), '+', row.ref('width')), '>', kept + 1)
    .returning('key_ix')
    .execute()
  await query.deleteFrom('point').where('run_ix', '=', runIx).where('step', '>', kept).execute()
  if (kept < 0) return
  // The bucket that the kept step lies in has lost its later half.
  const keys = [...new Set(gone.map((row) => row.key_ix))].sort((a, b) => a - b)
  await database.rollUp(
    query,
    keys.map((keyIx) => ({ runIx, keyIx, first: kept, last: kept })),
  )
}
