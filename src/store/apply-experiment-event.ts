// What an event of an experiment changes in its row.
import type { ExperimentEvent } from '../contracts/index.ts'
import { addRun } from './add-run.ts'
import type { Queryable } from './database.ts'
import { indexExperiment } from './index-experiment.ts'

export async function applyExperimentEvent(query: Queryable, event: ExperimentEvent): Promise<void> {
  const row = query.updateTable('experiment').where('id', '=', event.experiment_id)
  if (event.type === 'experiment.started') {
    await row.set({ status: 'running', finished_at: null, verdict: null, best_arm: null, conclusion: null }).execute()
  }
  if (event.type === 'run.added') await addRun(query, event)
  if (event.type === 'experiment.finished') {
    const { status, verdict, best_arm, conclusion, at } = event
    await row.set({ status, verdict, best_arm: best_arm ?? null, conclusion, finished_at: at }).execute()
    await indexExperiment(query, event.experiment_id)
  }
}
