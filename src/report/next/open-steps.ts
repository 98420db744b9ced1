// Everything that is open in a record.
import * as z from 'zod'
import { loadLab } from '../../lab/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { readSession } from '../read-session.ts'
import { experimentSteps } from './experiment-steps.ts'
import type { NextStep } from './next-step.ts'
import { sessionSteps } from './session-steps.ts'

/** What the record knows of where an experiment came from. */
const Origin = z.object({ file: z.string().optional() })

/** Experiments that are looked at, the newest first. */
const mostExperiments = 200

/** What the newest experiments and sessions of a record leave open; of those with one configuration, the newest counts. */
export async function openSteps(store: OpenStore): Promise<NextStep[]> {
  const seen = new Set<string>()
  const tasks = new Set<string>()
  const steps: NextStep[] = []
  for (const experiment of await store.experiments({ limit: mostExperiments })) {
    if (seen.has(experiment.configHash)) continue
    seen.add(experiment.configHash)
    steps.push(...(await stepsOf(store, experiment, tasks)))
  }
  return steps
}

async function stepsOf(store: OpenStore, experiment: ExperimentRow, tasks: Set<string>): Promise<NextStep[]> {
  const { isLogImport, isTrial, standingOf, storedEvidence } = await loadLab()
  // A trial is no evidence, and nobody here can run what a log tells of.
  if (isTrial(experiment) || isLogImport(experiment)) return []
  const session = await readSession(store, experiment)
  if (session !== undefined) {
    const { task_hash } = session.state.settings
    const isNewest = !tasks.has(task_hash)
    tasks.add(task_hash)
    return sessionSteps({ id: experiment.id, name: experiment.name, isNewest, state: session.state })
  }
  const runs = await store.runs(experiment.id)
  const ended = runs.filter(({ status }) => status !== 'pending' && status !== 'running')
  const times = ended.flatMap(({ wallS }) => wallS ?? [])
  return experimentSteps({
    experiment,
    evidence: storedEvidence(experiment),
    arms: experiment.plan.arms,
    done: ended.length,
    planned: runs.length,
    interrupted: (await standingOf(store, experiment)) === 'interrupted',
    ...Origin.catch({}).parse(experiment.provenance),
    ...(times.length === 0 ? {} : { runSeconds: times.reduce((sum, each) => sum + each, 0) / times.length }),
  })
}
