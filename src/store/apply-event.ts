// What an event changes in the tables. Runs in the transaction that stores the event: tables and events never disagree. Every
// change can be made again, so that steps done again after a crash leave the same rows. It follows `reduceRun`: what the fold
// takes back, the tables take back.
import {
  type Artifact,
  type ExperimentEvent,
  type PlannedRun,
  RecordedPlan,
  type RunEvent,
} from '../contracts/index.ts'
import type { Database, Queryable, RunTable } from './database/database.ts'
import { checkedName, parseStored } from './database/stored-values.ts'
import { indexExperiment } from './read-experiments.ts'

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
    case 'notice':
      if (event.artifact !== undefined) await keepArtifact(query, event.run_id, event.artifact)
      return
    case 'step.finished': // its metrics are points, written by the caller
    case 'eval.started':
    case 'rollout.finished':
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
      failure: null,
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
      failure: jsonOf(event.failure),
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

async function keepArtifact(query: Queryable, run_id: string, { name, kind, ref }: Artifact): Promise<void> {
  await query
    .insertInto('artifact')
    .values({ run_id, name, kind, ref })
    .onConflict((conflict) => conflict.columns(['run_id', 'name']).doUpdateSet({ kind, ref }))
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
    rewards: jsonOf(taskOutcomes(event)),
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

// What belongs to single tasks stands in one column: rewards alone as ever, and around them what else is known.
function taskOutcomes({ rewards, by_task, ranges, thin, tables }: Of<'eval.finished'>): unknown {
  const isPlain = by_task === undefined && ranges === undefined && thin === undefined && tables === undefined
  return isPlain ? rewards : { rewards, by_task, ranges, thin, tables }
}

function jsonOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

// What an event of an experiment changes in its row.
async function applyExperimentEvent(query: Queryable, event: ExperimentEvent): Promise<void> {
  const row = query.updateTable('experiment').where('id', '=', event.experiment_id)
  if (event.type === 'experiment.started') {
    await decideClaim(query, event.experiment_id, undefined)
    await row.set({ status: 'running', finished_at: null, verdict: null, best_arm: null, conclusion: null }).execute()
  }
  if (event.type === 'run.added') await addRun(query, event)
  if (event.type === 'experiment.finished') {
    const { status, verdict, best_arm, conclusion, claim, at } = event
    await decideClaim(query, event.experiment_id, claim)
    await row.set({ status, verdict, best_arm: best_arm ?? null, conclusion, finished_at: at }).execute()
    await indexExperiment(query, event.experiment_id)
  }
}

/** Puts the claim that a research session ended with into its plan; none: takes an earlier one out. Claims that people wrote stay. */
async function decideClaim(query: Queryable, experimentId: string, claim: RecordedPlan['claim']): Promise<void> {
  const row = await query.selectFrom('experiment').select('plan').where('id', '=', experimentId).executeTakeFirst()
  if (row === undefined || (claim === undefined && !row.plan.includes('"decided"'))) return
  const plan = parseStored(RecordedPlan, row.plan, `plan of experiment ${experimentId}`)
  const { claim: known, ...others } = plan
  if (claim === undefined && known?.decided === undefined) return
  const next: RecordedPlan = claim === undefined ? others : { ...others, claim }
  await query
    .updateTable('experiment')
    .set({ plan: JSON.stringify(next) })
    .where('id', '=', experimentId)
    .execute()
}

// When training resumes from an earlier step, what came after that step is rolled back: the tables then hold what they would hold
// had the run never gone further. Its events stay.
/** Takes back everything of a run after `step`; all of it when no step is kept. */
async function takeBack(database: Database, query: Queryable, runId: string, step: number | undefined): Promise<void> {
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

// A run that was not planned when its experiment began: research decides one after the other. Doing it again changes nothing.
type RunAdded = Extract<ExperimentEvent, { type: 'run.added' }>

/** Adds the run, its arm where it is new, and both to the plan. */
async function addRun(query: Queryable, { experiment_id, run_id, run, arm, parent_run }: RunAdded): Promise<void> {
  checkedName('id', run_id)
  for (const name of [run.name, run.arm]) checkedName('name', name)
  const row = await query
    .selectFrom('experiment')
    .select('plan')
    .where('id', '=', experiment_id)
    .executeTakeFirstOrThrow()
  const plan = parseStored(RecordedPlan, row.plan, `plan of experiment ${experiment_id}`)
  if (plan.runs.some(({ name }) => name === run.name)) return
  const known = plan.arms.find(({ name }) => name === run.arm)
  const grown = known ?? { params: {}, ...arm, name: run.arm, seeds: [] }
  const seeds = grown.seeds.includes(run.seed) ? grown.seeds : [...grown.seeds, run.seed]
  const arms = plan.arms.filter((each) => each !== known)
  const position = known === undefined ? arms.length : plan.arms.indexOf(known)
  const next: RecordedPlan = {
    ...plan,
    arms: arms.toSpliced(position, 0, { ...grown, seeds }),
    runs: [...plan.runs, run],
  }
  await query
    .updateTable('experiment')
    .set({ plan: JSON.stringify(next) })
    .where('id', '=', experiment_id)
    .execute()
  await query
    .insertInto('arm')
    .values({ experiment_id, name: run.arm, position, params: JSON.stringify(grown.params) })
    .onConflict((conflict) => conflict.columns(['experiment_id', 'name']).doNothing())
    .execute()
  await query
    .insertInto('run')
    .values({
      id: run_id,
      experiment_id,
      arm: run.arm,
      name: run.name,
      position: plan.runs.length,
      seed: run.seed,
      ...payloadColumns(run),
      config_hash: run.config_hash,
      status: 'pending',
      attempt: 0,
      metrics: '{}',
      parent_run: parent_run ?? null,
    })
    .execute()
}

/** The columns of a run that say what it does. */
export function payloadColumns(run: PlannedRun): Pick<RunTable, 'kind' | 'payload'> {
  if (run.kind === 'candidate') return { kind: run.kind, payload: JSON.stringify(run.candidate) }
  if (run.kind === 'job') return { kind: run.kind, payload: JSON.stringify(run.job) }
  return { kind: 'training', payload: JSON.stringify(run.config) }
}
