// What an event changes in the tables. Runs in the transaction that stores the event: tables and events never disagree. Every
// change can be made again, so that steps done again after a crash leave the same rows. It follows `reduceRun`: what the fold
// takes back, the tables take back.
import type { ExperimentEvent, RunEvent } from '../contracts/index.ts'
import { applyExperimentEvent } from './apply-experiment-event.ts'
import { checkedName } from './checked-name.ts'
import type { Database, Queryable } from './database.ts'
import { takeBack } from './take-back.ts'

/** Step of an evaluation that was made after training. */
export const FINAL_STEP = -1

export async function applyEvent(
  database: Database,
  query: Queryable,
  event: RunEvent | ExperimentEvent,
): Promise<void> {
  if ('experiment_id' in event) await applyExperimentEvent(query, event)
  else await applyRunEvent(database, query, event)
}

/** Whether rows written before the event may go with it. */
export function takesBack(event: RunEvent | ExperimentEvent): boolean {
  return event.type === 'guard.tripped' || (event.type === 'run.started' && event.seq > 1)
}

async function applyRunEvent(database: Database, query: Queryable, event: RunEvent): Promise<void> {
  switch (event.type) {
    case 'run.started':
      if (takesBack(event)) await takeBack(database, query, event.run_id, event.resumed_from_step)
      return startRun(query, event)
    case 'guard.tripped':
      if (event.rolled_back_to !== undefined || event.action === 'roll_back') {
        await takeBack(database, query, event.run_id, event.rolled_back_to)
      }
      return
    case 'data.loaded':
      await query
        .updateTable('run')
        .set({ n_rows: event.n_rows, data_hash: event.data_hash })
        .where('id', '=', event.run_id)
        .execute()
      return
    case 'checkpoint.saved':
      return saveCheckpoint(query, event)
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
      return saveEval(query, event)
    case 'run.finished':
      return finishRun(query, event)
    case 'step.finished': // its metrics are points, written by the caller
    case 'eval.started':
    case 'rollout.finished':
    case 'notice':
    case 'log':
      return // the event itself is the record
  }
}

type Of<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

async function startRun(query: Queryable, event: Of<'run.started'>): Promise<void> {
  await query
    .updateTable('run')
    .set((old) => ({
      status: 'running',
      attempt: event.attempt,
      engine_id: event.engine_id ?? null,
      code_hash: event.code_hash ?? null,
      num_steps: event.num_steps ?? null,
      best_step: null,
      error: null,
      cost_usd: null,
      tokens: null,
      wall_s: null,
      finished_at: null,
      started_at: old.fn.coalesce('started_at', old.val(event.at)),
    }))
    .where('id', '=', event.run_id)
    .execute()
}

async function finishRun(query: Queryable, event: Of<'run.finished'>): Promise<void> {
  await query
    .updateTable('run')
    .set({
      status: event.status,
      error: jsonOf(event.error),
      metrics: JSON.stringify(event.metrics),
      best_step: event.best_step ?? null,
      cost_usd: event.cost_usd ?? null,
      tokens: event.tokens ?? null,
      wall_s: event.wall_s ?? null,
      finished_at: event.at,
    })
    .where('id', '=', event.run_id)
    .execute()
}

async function saveCheckpoint(query: Queryable, event: Of<'checkpoint.saved'>): Promise<void> {
  const { run_id, step, kind } = event
  const row = { ref: event.ref, final: Number(event.final), dropped: 0 }
  await query
    .insertInto('checkpoint')
    .values({ run_id, step, kind, ...row })
    .onConflict((conflict) => conflict.columns(['run_id', 'step', 'kind']).doUpdateSet(row))
    .execute()
}

async function saveEval(query: Queryable, event: Of<'eval.finished'>): Promise<void> {
  const row = {
    split: event.split,
    metrics: JSON.stringify(event.metrics),
    bounds: jsonOf(event.bounds),
    n_tasks: event.n_tasks,
    n_infra_failed: event.n_infra_failed,
    scorer_hash: event.scorer_hash,
    rewards: jsonOf(event.rewards),
    predictions: event.predictions ?? null,
    error: jsonOf(event.error),
  }
  const benchmark = checkedName('benchmark name', event.benchmark)
  await query
    .insertInto('eval')
    .values({ run_id: event.run_id, benchmark, step: event.step ?? FINAL_STEP, ...row })
    .onConflict((conflict) => conflict.columns(['run_id', 'benchmark', 'step']).doUpdateSet(row))
    .execute()
}

function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}
