// Which runs of a plan the record holds already, by what is known before anything starts: the configuration with its seed, and all
// that the experiment around a run says of it. Code, data, engine and scorers are compared by the controller, which computes them.
import {
  type Benchmark,
  metricSpec,
  type Plan,
  type RecordedPlan,
  type TrainingRun,
  type TrainingRunRow,
} from '../../contracts/index.ts'
import { hashOf, isMapping } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore, RunRow } from '../../store/index.ts'
import { filesOf, runFolder } from '../files/experiment-folder.ts'
import { isDryRun } from './dry-run.ts'

/** How a run that repeats an earlier one is marked; `parentRun` is that run. */
const reusedMode = 'reused'

export function isReused({ mode }: Pick<RunRow, 'mode'>): boolean {
  return mode === reusedMode
}

/** An earlier run that could stand for a planned one. */
export interface HeldRun {
  readonly run: TrainingRunRow
  readonly experiment: ExperimentRow
}

/** For planned runs, by name: earlier runs of the same configuration, the newest first. Reused ones lead to what they repeat. */
export async function heldRuns(
  store: OpenStore,
  plan: Plan | RecordedPlan,
  { projectDir, except }: { projectDir: string; except?: string | undefined },
): Promise<Map<string, HeldRun[]>> {
  const planned = plan.runs.filter((run): run is TrainingRun => 'config' in run)
  const found = await store.completedRuns([...new Set(planned.map(({ config_hash }) => config_hash))])
  const settings = settingsHash(plan)
  const experiments = new Map<string, ExperimentRow | undefined>()
  const held = new Map<string, HeldRun[]>()
  for (const run of found) {
    if (run.kind !== 'training' || run.invalid !== undefined || run.error !== undefined || isReused(run)) continue
    if (run.experimentId === except) continue
    if (!experiments.has(run.experimentId)) {
      experiments.set(run.experimentId, await usable(store, run.experimentId, { settings, projectDir }))
    }
    const experiment = experiments.get(run.experimentId)
    if (experiment === undefined) continue
    for (const { name, config_hash } of planned) {
      if (config_hash === run.configHash) held.set(name, [...(held.get(name) ?? []), { run, experiment }])
    }
  }
  return held
}

// Trials are no evidence; without its files an experiment came from another machine, or its weights are gone.
async function usable(
  store: OpenStore,
  experimentId: string,
  { settings, projectDir }: { settings: string; projectDir: string },
): Promise<ExperimentRow | undefined> {
  const experiment = await store.experiment(experimentId)
  if (experiment === undefined || isDryRun(experiment)) return undefined
  if (settingsHash(experiment.plan) !== settings) return undefined
  return (await filesOf(experiment, projectDir)) === undefined ? undefined : experiment
}

/** What an experiment says of all its runs: how they are judged, and who is called while they train. */
function settingsHash({ experiment, objective }: Plan | RecordedPlan): string {
  const { callbacks, log_store, log_rollouts, metadata } = experiment
  return hashOf({
    callbacks,
    log_store: log_store ?? null,
    log_rollouts,
    objective: objective ?? null,
    benchmarks: metadata.benchmark.map(judging),
  })
}

// Its tasks, verifiers and metrics are covered by the hash of its scorer; where they lie and how fast they are scored means nothing.
function judging(benchmark: Benchmark): unknown {
  const { path, id, data, tags, models, n_concurrent, leaks, metrics, ...rest } = benchmark
  return { ...rest, metrics: metrics.map(metricSpec) }
}

/** Hashes of a project's plugins, by type and kind, as an experiment records them when it begins. */
export function projectPlugins({ provenance }: Pick<ExperimentRow, 'provenance'>): Record<string, string> | undefined {
  const plugins = isMapping(provenance) ? provenance.plugins : undefined
  if (!isMapping(plugins)) return undefined
  return Object.fromEntries(
    Object.entries(plugins).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  )
}

/** The folder of a run; of a reused one, that of the run that it repeats. Undefined: not on this machine. */
export async function originDirOf(
  store: OpenStore,
  run: Pick<RunRow, 'experimentId' | 'name' | 'mode' | 'parentRun'>,
  projectDir: string,
): Promise<string | undefined> {
  const origin = isReused(run) ? await store.run(run.parentRun ?? '') : run
  const experiment = origin && (await store.experiment(origin.experimentId))
  const files = experiment && (await filesOf(experiment, projectDir))
  return files === undefined || origin === undefined ? undefined : runFolder(files, origin.name)
}
