// What an event changes in the tables. Runs in the transaction that stores the event: tables and events never disagree.
// Every change is an upsert, so that steps done again after a crash leave the same rows.
import type { ExperimentEvent, RunEvent } from '../contracts/index.ts'
import type { Database, Queryable } from './database.ts'
import { writePoints } from './write-points.ts'

export async function applyEvent(
  database: Database,
  query: Queryable,
  event: RunEvent | ExperimentEvent,
): Promise<void> {
  if ('run_id' in event && !('experiment_id' in event)) await applyRunEvent(database, query, event)
  else if ('experiment_id' in event) await applyExperimentEvent(query, event)
}

async function applyRunEvent(database: Database, query: Queryable, event: RunEvent): Promise<void> {
  const run = query.updateTable('run').where('id', '=', event.run_id)
  switch (event.type) {
    case 'run.started':
      await run
        .set((expr) => ({
          status: 'running',
          attempt: event.attempt,
          engine_id: event.engine_id ?? null,
          code_hash: event.code_hash ?? null,
          num_steps: event.num_steps ?? null,
          error: null,
          finished_at: null,
          started_at: expr.fn.coalesce('started_at', expr.val(event.at)),
        }))
        .execute()
      return
    case 'data.loaded':
      await run.set({ n_rows: event.n_rows, data_hash: event.data_hash }).execute()
      return
    case 'step.finished':
      return writePoints(database, query, {
        type: 'points',
        run_id: event.run_id,
        key: Object.keys(event.metrics),
        step: Object.keys(event.metrics).map(() => event.step),
        value: Object.values(event.metrics),
        at_ms: Object.keys(event.metrics).map(() => Date.parse(event.at)),
      })
    case 'checkpoint.saved':
      await query
        .insertInto('checkpoint')
        .values({
          run_id: event.run_id,
          step: event.step,
          kind: event.kind,
          ref: event.ref,
          final: Number(event.final),
          dropped: 0,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['run_id', 'step', 'kind'])
            .doUpdateSet({ ref: event.ref, final: Number(event.final), dropped: 0 }),
        )
        .execute()
      return
    case 'checkpoint.dropped':
      await query
        .updateTable('checkpoint')
        .set({ dropped: 1 })
        .where('run_id', '=', event.run_id)
        .where('step', '=', event.step)
        .where('kind', '=', event.kind)
        .execute()
      return
    case 'eval.finished':
      return upsertEval(query, event)
    case 'run.finished':
      await run
        .set({
          status: event.status,
          error: event.error === undefined ? null : JSON.stringify(event.error),
          metrics: JSON.stringify(event.metrics),
          best_step: event.best_step ?? null,
          cost_usd: event.cost_usd ?? null,
          tokens: event.tokens ?? null,
          wall_s: event.wall_s ?? null,
          finished_at: event.at,
        })
        .execute()
      return
    case 'eval.started':
    case 'rollout.finished':
    case 'guard.tripped':
    case 'notice':
    case 'log':
      return // the event itself is the record
  }
}

async function upsertEval(query: Queryable, event: Extract<RunEvent, { type: 'eval.finished' }>): Promise<void> {
  const row = {
    split: event.split,
    metrics: JSON.stringify(event.metrics),
    bounds: event.bounds === undefined ? null : JSON.stringify(event.bounds),
    n_tasks: event.n_tasks,
    n_infra_failed: event.n_infra_failed,
    scorer_hash: event.scorer_hash,
    rewards: event.rewards === undefined ? null : JSON.stringify(event.rewards),
    predictions: event.predictions ?? null,
    error: event.error === undefined ? null : JSON.stringify(event.error),
  }
  await query
    .insertInto('eval')
    .values({ run_id: event.run_id, benchmark: event.benchmark, step: event.step ?? FINAL_STEP, ...row })
    .onConflict((conflict) => conflict.columns(['run_id', 'benchmark', 'step']).doUpdateSet(row))
    .execute()
}

/** Step of an evaluation that was made after training. */
export const FINAL_STEP = -1

async function applyExperimentEvent(query: Queryable, event: ExperimentEvent): Promise<void> {
  const experiment = query.updateTable('experiment').where('id', '=', event.experiment_id)
  if (event.type === 'experiment.started') await experiment.set({ status: 'running' }).execute()
  if (event.type === 'experiment.finished') {
    await experiment
      .set({
        status: event.status,
        verdict: event.verdict,
        best_arm: event.best_arm ?? null,
        conclusion: event.conclusion,
        finished_at: event.at,
      })
      .execute()
  }
}
