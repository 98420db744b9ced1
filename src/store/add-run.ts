// A run that was not planned when its experiment began: research decides one after the other. Doing it again changes nothing.
import { type ExperimentEvent, Plan } from '../contracts/index.ts'
import { checkedName } from './checked-name.ts'
import type { Queryable } from './database.ts'
import { parseStored } from './parse-stored.ts'

type RunAdded = Extract<ExperimentEvent, { type: 'run.added' }>

/** Adds the run, its arm where it is new, and both to the plan. */
export async function addRun(
  query: Queryable,
  { experiment_id, run_id, run, arm, parent_run }: RunAdded,
): Promise<void> {
  checkedName('id', run_id)
  for (const name of [run.name, run.arm]) checkedName('name', name)
  const row = await query
    .selectFrom('experiment')
    .select('plan')
    .where('id', '=', experiment_id)
    .executeTakeFirstOrThrow()
  const plan = parseStored(Plan, row.plan, `plan of experiment ${experiment_id}`)
  if (plan.runs.some(({ name }) => name === run.name)) return
  const known = plan.arms.find(({ name }) => name === run.arm)
  const grown = known ?? { params: {}, ...arm, name: run.arm, seeds: [] }
  const seeds = grown.seeds.includes(run.seed) ? grown.seeds : [...grown.seeds, run.seed]
  const arms = plan.arms.filter((each) => each !== known)
  const position = known === undefined ? arms.length : plan.arms.indexOf(known)
  const next: Plan = {
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
      config: JSON.stringify(run.config),
      config_hash: run.config_hash,
      status: 'pending',
      attempt: 0,
      metrics: '{}',
      parent_run: parent_run ?? null,
    })
    .execute()
}
