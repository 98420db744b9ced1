// A new session in the record.
import { Experiment, type Plan, SessionSettings } from '../../contracts/index.ts'
import { type Clock, hashOf, type Ids } from '../../kernel/index.ts'
import type { OpenStore } from '../../store/index.ts'
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
