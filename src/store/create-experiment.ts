// Intent before action: the experiment, its arms and all its runs are in the record before anything starts.
import type { NewExperiment } from '../contracts/index.ts'
import { EvsysError } from '../kernel/index.ts'
import { appendWithin } from './append.ts'
import { checkedName } from './checked-name.ts'
import type { Database, Queryable } from './database.ts'
import { searchText } from './search-words.ts'

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
    ...(metadata.hypothesis === undefined ? {} : { hypothesis: metadata.hypothesis }),
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
    config: JSON.stringify(run.config),
    config_hash: run.config_hash,
    status: 'pending',
    attempt: 0,
    metrics: '{}',
  }))
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}
