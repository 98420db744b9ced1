// Intent before action: the experiment, its arms and all its runs are in the record before anything starts.
import type { Plan } from '../contracts/index.ts'
import type { Database } from './database.ts'
import { appendWithin } from './ingest.ts'

export interface NewExperiment {
  readonly experimentId: string
  readonly at: string
  readonly plan: Plan
  /** In the order of the plan. */
  readonly runIds: readonly string[]
  /** Versions and machine that it is started with. */
  readonly provenance: Readonly<Record<string, unknown>>
}

/** Records a planned experiment. Doing it again changes nothing. */
export async function createExperiment(database: Database, created: NewExperiment): Promise<void> {
  const { experimentId, plan, at } = created
  await database.transaction(async (query) => {
    const known = await query.selectFrom('experiment').select('id').where('id', '=', experimentId).executeTakeFirst()
    if (known !== undefined) return
    await query.insertInto('experiment').values(experimentRow(created)).execute()
    for (const rows of chunks(armRows(created), 100)) await query.insertInto('arm').values(rows).execute()
    for (const rows of chunks(runRows(created), 50)) await query.insertInto('run').values(rows).execute()
    await appendWithin(database, query, `experiment:${experimentId}`, 0, [
      {
        seq: 1,
        at,
        experiment_id: experimentId,
        type: 'experiment.started',
        name: plan.experiment.name,
        config_hash: plan.config_hash,
        n_arms: plan.arms.length,
        n_runs: plan.runs.length,
        ...(plan.experiment.metadata.hypothesis === undefined
          ? {}
          : { hypothesis: plan.experiment.metadata.hypothesis }),
      },
    ])
  })
}

function experimentRow({ experimentId, at, plan, provenance }: NewExperiment) {
  const { experiment, objective } = plan
  return {
    id: experimentId,
    name: experiment.name,
    created_at: at,
    finished_at: null,
    status: 'pending',
    hypothesis: experiment.metadata.hypothesis ?? null,
    config_hash: plan.config_hash,
    plan: JSON.stringify(plan),
    parent_id: experiment.parent_experiment_id ?? null,
    tags: JSON.stringify(experiment.metadata.tags),
    verdict: null,
    conclusion: null,
    evidence: null,
    words: '[]',
    best_arm: null,
    objective: objective === undefined ? null : JSON.stringify(objective),
    cost_usd: null,
    wall_s: null,
    provenance: JSON.stringify(provenance),
  }
}

function armRows({ experimentId, plan }: NewExperiment) {
  return plan.arms.map((arm, position) => ({
    experiment_id: experimentId,
    name: arm.name,
    position,
    params: JSON.stringify(arm.params),
  }))
}

function runRows({ experimentId, plan, runIds }: NewExperiment) {
  const idOf = new Map(plan.runs.map((run, i) => [run.name, runIds[i] ?? '']))
  return plan.runs.map((run, position) => ({
    id: idOf.get(run.name) ?? '',
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
