// The end of an experiment: evidence from the record, the verdict, the words, and the files that hold them.
import type { Evidence, ExperimentEvent, ExperimentResult } from '../../contracts/index.ts'
import { evaluatePlugins } from '../../evaluate/index.ts'
import { type Clock, createRegistry } from '../../kernel/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import type { TaskMetric } from './arm-scores.ts'
import { conclusionText } from './conclusion-text.ts'
import { experimentResult } from './experiment-result.ts'
import { recordedLeaks } from './record-leaks.ts'
import { recordedSpeeds } from './record-speeds.ts'
import { recordedTrips } from './recorded-trips.ts'
import { baselinesOf, judgeCosts } from './score-baselines.ts'
import { isTrial } from './trial.ts'
import { type RecordedRun, weighEvidence } from './weigh-evidence.ts'
import { writeExperimentFiles } from './write-experiment-files.ts'

/** Weighs what the record holds of an experiment. */
export async function evidenceOf(
  store: OpenStore,
  experiment: ExperimentRow,
): Promise<{ evidence: Evidence; runs: RecordedRun[] }> {
  const rows = await store.runs(experiment.id)
  const runs = await Promise.all(rows.map(async (run) => ({ run, evals: await store.evals(run.id) })))
  const { claim, ...unclaimed } = experiment.plan
  const plan = claim === undefined || isTrial(experiment) ? unclaimed : { ...unclaimed, claim }
  return { evidence: weighEvidence({ plan, runs, metricOf }), runs }
}

/** The result of an experiment as the record has it now. */
export async function resultOf(store: OpenStore, experiment: ExperimentRow): Promise<ExperimentResult> {
  const { evidence, runs } = await evidenceOf(store, experiment)
  const rows = runs.map(({ run }) => run)
  return experimentResult(experiment, rows, evidence, {
    baselines: await baselinesOf(store, experiment.id),
    leaks: await recordedLeaks(store, experiment.id),
    speeds: await recordedSpeeds(store, experiment.id),
    trips: await recordedTrips(store, rows),
  })
}

/** Writes the conclusion of an experiment whose runs have all ended. The record comes last: once it says so, all is there. */
export async function concludeExperiment(
  store: OpenStore,
  experiment: ExperimentRow,
  options: { outputDir: string; clock: Clock; wallS: number; lease?: Lease },
): Promise<ExperimentResult> {
  const { evidence, runs } = await evidenceOf(store, experiment)
  const baselines = await baselinesOf(store, experiment.id)
  const rows = runs.map(({ run }) => run)
  const trips = await recordedTrips(store, rows)
  const text = conclusionText(evidence, { isTrial: isTrial(experiment), baselines, trips })
  await writeExperimentFiles({ experiment, runs, evidence, baselines, text, dir: options.outputDir })
  const stream = `experiment:${experiment.id}`
  const { nextEvent } = await store.cursor(stream)
  const costs = [
    ...runs.flatMap(({ run }) => run.costUsd ?? []),
    ...baselines.flatMap((each) => each.cost_usd ?? []),
    ...(await judgeCosts(
      store,
      runs.map(({ run }) => run.id),
    )),
  ]
  await store.verdicts.evidence(experiment.id, evidence, {
    wallS: options.wallS,
    ...(costs.length === 0 ? {} : { costUsd: costs.reduce((sum, cost) => sum + cost, 0) }),
  })
  const finishing: ExperimentEvent = {
    seq: nextEvent,
    at: new Date(options.clock.now()).toISOString(),
    experiment_id: experiment.id,
    type: 'experiment.finished',
    status: evidence.n_completed === 0 ? 'failed' : 'completed',
    verdict: evidence.verdict,
    conclusion: text,
    ...(evidence.best_arm === null ? {} : { best_arm: evidence.best_arm }),
  }
  await store.append(stream, nextEvent - 1, [finishing], options.lease)
  const finished = (await store.experiment(experiment.id)) ?? experiment
  return experimentResult(finished, rows, evidence, {
    ...{ baselines, trips },
    leaks: await recordedLeaks(store, experiment.id),
    speeds: await recordedSpeeds(store, experiment.id),
  })
}

/** A built-in metric, to be computed task by task. Those of a project live in the scorer and are not called here. */
export function metricOf(kind: string): TaskMetric | undefined {
  const registry = createRegistry()
  for (const plugin of evaluatePlugins) registry.add(plugin, { rank: 'built-in', label: 'built-in' })
  const found = registry.find('metric', kind)
  if (found === undefined || found.plugin.type !== 'metric') return undefined
  const { plugin } = found
  return { params: plugin.params.parse(found.params), compute: plugin.compute.bind(plugin) }
}
