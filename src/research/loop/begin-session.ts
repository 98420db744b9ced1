// A session in the record: a new one, or the newest of a task that may be gone on with.
import { Experiment, type Plan, type ResearchTask, SessionSettings } from '../../contracts/index.ts'
import { type Clock, EvsysError, hashOf, type Ids } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore } from '../../store/index.ts'
import { BASELINE } from './decide-baseline.ts'
import { BENCHMARKS, plannedConfig } from './record-runs.ts'

/** Tag of experiments that are research sessions. */
export const RESEARCH_TAG = 'research'

/** Puts a new session into the record. The journal still has to say that it began. */
export async function createSession(
  store: OpenStore,
  settings: SessionSettings,
  { clock, ids, provenance }: { clock: Clock; ids: Ids; provenance: Readonly<Record<string, unknown>> },
): Promise<string> {
  const experimentId = ids.next('exp')
  await store.createExperiment({
    experimentId,
    at: new Date(clock.now()).toISOString(),
    plan: planOf(settings),
    runIds: [ids.next('run')],
    provenance: { ...provenance, research: { task: settings.task, task_hash: settings.task_hash } },
  })
  return experimentId
}

function planOf(settings: SessionSettings): Plan {
  const [seed = 0] = settings.seeds
  const run = plannedConfig({
    run: `${BASELINE}-s${seed}`,
    arm: BASELINE,
    seed,
    task: settings.task,
    params: { title: 'baseline', train_seconds: settings.train_seconds },
    hash: settings.task_hash,
  })
  const { metric, direction } = settings
  const experiment = Experiment.parse({
    name: settings.task,
    description: `Research on the task ${settings.task}: ${settings.strategy.kind}, ${settings.proposer.kind}, ${settings.keep_rule.kind}.`,
    metadata: {
      hypothesis: `There are changes that improve ${metric} of ${settings.task} beyond the baseline.`,
      tags: [RESEARCH_TAG],
      benchmark: [
        { name: BENCHMARKS.val, path: settings.task, split: 'val', metrics: [metric] },
        { name: BENCHMARKS.test, path: settings.task, split: 'test', metrics: [metric] },
      ],
    },
    runs: [run.config],
  })
  return {
    experiment,
    config_hash: hashOf({ research: SessionSettings.parse(settings) }),
    objective: { benchmark: BENCHMARKS.val, metric, direction },
    arms: [{ name: BASELINE, params: {}, seeds: [seed] }],
    runs: [run],
    notices: [],
  }
}

/** The newest session of a task, whatever its state. */
async function newestSession(store: OpenStore, task: string): Promise<ExperimentRow | undefined> {
  const all = await store.experiments({ limit: 1000 })
  return all.find((row) => row.name === task && row.tags.includes(RESEARCH_TAG))
}

/** The session to go on with; an error where there is none, or where its task is another by now. */
export async function sessionToResume(store: OpenStore, task: Pick<ResearchTask, 'name'>): Promise<ExperimentRow> {
  const found = await newestSession(store, task.name)
  if (found !== undefined) return found
  throw new EvsysError('STORE_MISSING', `no research session of this project has the task "${task.name}"`, {
    fix: 'leave out --resume to begin one. `evsys history` lists what there is',
  })
}

/** Scores of another scorer, other data or another budget of time do not compare. */
export function requireSameTask(settings: SessionSettings, task: Pick<ResearchTask, 'name' | 'hash'>): void {
  if (settings.task_hash === task.hash) return
  throw new EvsysError('CONFIG_CONFLICT', `the task "${task.name}" has changed since the session began`, {
    fix: 'its scores would not compare: leave out --resume to begin a new session',
  })
}
