// Intent before action: the experiment, its arms and all its runs are in the record before anything starts.
import type { NewExperiment, Verdicts } from '../contracts/index.ts'
import { type Clock, EvsysError } from '../kernel/index.ts'
import { payloadColumns } from './apply-event.ts'
import type { Database, Queryable, RunTable } from './database/database.ts'
import { checkedName, parseStored } from './database/stored-values.ts'
import { appendWithin } from './ingest.ts'
import { indexExperiment, searchText, Words } from './read-experiments.ts'
import { noteColumns } from './read-runs.ts'

/** Records a planned experiment. Doing it again changes nothing. */
export async function createExperiment(database: Database, created: NewExperiment): Promise<void> {
  check(created)
  await database.transaction(async (query) => {
    const isNew = await query
      .insertInto('experiment')
      .values(experimentColumns(created))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (isNew === undefined) return requireSame(query, created)
    for (const rows of chunks(armColumns(created), 100)) await query.insertInto('arm').values(rows).execute()
    for (const rows of chunks(runColumns(created), 50)) await query.insertInto('run').values(rows).execute()
    const stream = `experiment:${created.experimentId}`
    await appendWithin(database, query, stream, 0, [{ event: startedEvent(created), points: [] }])
  })
}

function check({ experimentId, plan, runIds }: NewExperiment): void {
  for (const id of [experimentId, ...runIds]) checkedName('id', id)
  for (const { name } of [plan.experiment, ...plan.arms, ...plan.runs]) checkedName('name', name)
  if (runIds.length === plan.runs.length && new Set(runIds).size === runIds.length) return
  throw new EvsysError('INTERNAL', `${plan.runs.length} runs are planned and ${new Set(runIds).size} ids are given`)
}

async function requireSame(query: Queryable, { experimentId, plan, runIds }: NewExperiment): Promise<void> {
  const runs = await query.selectFrom('run').select('id').where('experiment_id', '=', experimentId).execute()
  const known = await query
    .selectFrom('experiment')
    .select('config_hash')
    .where('id', '=', experimentId)
    .executeTakeFirst()
  const ids = new Set(runs.map(({ id }) => id))
  if (known?.config_hash === plan.config_hash && ids.size === runIds.length && runIds.every((id) => ids.has(id))) return
  throw new EvsysError('STORE_CONFLICT', `the record has another experiment ${experimentId}`)
}

function startedEvent({ experimentId, at, plan }: NewExperiment) {
  const { name, metadata } = plan.experiment
  return {
    type: 'experiment.started' as const,
    seq: 1,
    at,
    experiment_id: experimentId,
    name,
    config_hash: plan.config_hash,
    n_arms: plan.arms.length,
    n_runs: plan.runs.length,
    hypothesis: metadata.hypothesis,
  }
}

function experimentColumns({ experimentId, at, plan, provenance }: NewExperiment) {
  const { experiment, objective } = plan
  const { hypothesis, tags } = experiment.metadata
  return {
    id: experimentId,
    name: experiment.name,
    created_at: at,
    status: 'pending',
    hypothesis: hypothesis ?? null,
    config_hash: plan.config_hash,
    plan: JSON.stringify(plan),
    parent_id: experiment.parent_experiment_id ?? null,
    tags: JSON.stringify(tags),
    words: '[]',
    objective: objective === undefined ? null : JSON.stringify(objective),
    provenance: JSON.stringify(provenance),
    search_name: searchText(experiment.name),
    search_text: searchText(hypothesis, ...tags),
  }
}

function armColumns({ experimentId, plan }: NewExperiment) {
  return plan.arms.map((arm, position) => ({
    experiment_id: experimentId,
    name: arm.name,
    position,
    params: JSON.stringify(arm.params),
  }))
}

function runColumns({ experimentId, plan, runIds }: NewExperiment) {
  const idOf = new Map(plan.runs.map((run, i) => [run.name, runIds[i] ?? '']))
  return plan.runs.map((run, position) => ({
    id: runIds[position] ?? '',
    experiment_id: experimentId,
    arm: run.arm,
    name: run.name,
    position,
    seed: run.seed,
    stage: run.stage ?? null,
    after_run: run.after === undefined ? null : (idOf.get(run.after) ?? null),
    ...payloadColumns(run),
    config_hash: run.config_hash,
    status: 'pending',
    attempt: 0,
    metrics: '{}',
  }))
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

// What people and programs say of finished work: the computed evidence, an author's word beside it, a run that must not count.
export function createVerdicts(database: Database, clock: Clock): Verdicts {
  return {
    async evidence(experimentId, evidence, { costUsd, wallS }) {
      const changed = await database.query
        .updateTable('experiment')
        .set({ evidence: JSON.stringify(evidence ?? null), cost_usd: costUsd ?? null, wall_s: wallS })
        .where('id', '=', experimentId)
        .executeTakeFirst()
      if (changed.numUpdatedRows === 0n) throw missing('experiment', experimentId)
    },
    conclude: (experimentId, author, text) =>
      database.transaction(async (query) => {
        const select = query.selectFrom('experiment').select('words').where('id', '=', experimentId)
        const row = await (database.kind === 'postgres' ? select.forUpdate() : select).executeTakeFirst()
        if (row === undefined) throw missing('experiment', experimentId)
        const known = parseStored(Words, row.words, `words of experiment ${experimentId}`)
        const words = JSON.stringify([...known, { at: new Date(clock.now()).toISOString(), author, text }])
        await query.updateTable('experiment').set({ words }).where('id', '=', experimentId).execute()
        await indexExperiment(query, experimentId)
      }),
    invalidate: (runId, reason) => setRun(database.query, runId, { invalid: reason }),
    note: (runId, notes) => setRun(database.query, runId, noteColumns(notes)),
  }
}

async function setRun(query: Queryable, runId: string, columns: Partial<RunTable>): Promise<void> {
  const { ix: _ix, ...changed } = columns
  if (Object.keys(changed).length === 0) return
  const updated = await query.updateTable('run').set(changed).where('id', '=', runId).executeTakeFirst()
  if (updated.numUpdatedRows === 0n) throw missing('run', runId)
}

function missing(what: string, id: string): EvsysError {
  return new EvsysError('STORE_MISSING', `the record has no ${what} ${id}`, {
    fix: '`evsys history` lists what there is.',
  })
}
