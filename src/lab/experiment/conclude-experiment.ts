// The end of an experiment: evidence from the record, the verdict, the words, and the files that hold them.
import type { ExperimentEvent, ExperimentResult } from '../../contracts/index.ts'
import type { Clock } from '../../kernel/index.ts'
import {
  baselinesOf,
  concludeLog,
  conclusionText,
  evidenceOf,
  experimentResult,
  filesOf,
  isDryRun,
  isLogImport,
  judgeCosts,
  outputDirOf,
  recordedLeaks,
  recordedSpeeds,
  recordedTrips,
  resultOf,
} from '../../record/index.ts'
import type { ExperimentRow, Lease, OpenStore } from '../../store/index.ts'
import { writeExperimentFiles } from './write-experiment-files.ts'

/** Writes the conclusion of an experiment whose runs have all ended. The record comes last: once it says so, all is there. */
export async function concludeExperiment(
  store: OpenStore,
  experiment: ExperimentRow,
  options: { outputDir: string; clock: Clock; wallS: number; lease?: Lease | undefined },
): Promise<ExperimentResult> {
  const { evidence, runs } = await evidenceOf(store, experiment)
  const baselines = await baselinesOf(store, experiment.id)
  const rows = runs.map(({ run }) => run)
  const trips = await recordedTrips(store, rows)
  const text = conclusionText(evidence, { isTrial: isDryRun(experiment), baselines, trips })
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
    baselines,
    trips,
    leaks: await recordedLeaks(store, experiment.id),
    speeds: await recordedSpeeds(store, experiment.id),
  })
}

// The conclusion of a finished experiment, computed once more after a run was marked invalid.
interface AgainOptions {
  readonly projectDir: string
  readonly clock: Clock
}

/** Weighs the record again. An experiment that still runs concludes at its end, and is left as it is. */
export async function concludeAgain(
  store: OpenStore,
  experiment: ExperimentRow,
  { projectDir, clock }: AgainOptions,
): Promise<ExperimentResult> {
  if (experiment.verdict === undefined) return resultOf(store, experiment)
  if (isLogImport(experiment)) {
    await concludeLog(store, experiment, clock)
    return resultOf(store, await store.findExperiment(experiment.id))
  }
  const outputDir = outputDirOf(experiment, projectDir)
  return concludeExperiment(store, experiment, { outputDir, clock, wallS: experiment.wallS ?? 0 })
}

/** Writes the pages of an experiment anew where they lie on this machine, so that they hold what authors added. */
export async function refreshFiles(store: OpenStore, experiment: ExperimentRow, projectDir: string): Promise<void> {
  const dir = await filesOf(experiment, projectDir)
  if (experiment.verdict === undefined || dir === undefined) return
  const { evidence, runs } = await evidenceOf(store, experiment)
  await writeExperimentFiles({
    experiment,
    runs,
    evidence,
    text: experiment.conclusion ?? conclusionText(evidence),
    dir,
  })
}
