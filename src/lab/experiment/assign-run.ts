// The assignment of a run: everything a worker may know, and where it goes on after an interruption.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import {
  armReference,
  CheckpointKind,
  type Metrics,
  type Plan,
  type PluginSpec,
  RunAssignment,
  referencedArms,
  type SealedBenchmark,
} from '../../contracts/index.ts'
import { fileError, type PluginReference, systemCode } from '../../kernel/index.ts'
import type { ExperimentRow, OpenStore, RunRow } from '../../store/index.ts'
import { pastGuards } from '../train/guards/past-guards.ts'
import { pastLosses } from '../train/past-losses.ts'

export interface AssignOptions {
  readonly store: OpenStore
  readonly experiment: ExperimentRow
  readonly outputDir: string
  readonly projectDir: string
  readonly plugins: readonly PluginReference[]
  readonly benchmarks: readonly SealedBenchmark[]
}

/** Plugins as a worker is told of them. */
export function pluginFilesOf(plugins: readonly PluginReference[]): RunAssignment['plugin_files'] {
  return plugins.map(({ spec, from }) => ({ spec, from }))
}

/** Checkpoints that a run keeps, besides the best. */
const CHECKPOINTS_KEPT = 3

export async function assignRun(row: RunRow, options: AssignOptions): Promise<RunAssignment> {
  const { store, experiment, outputDir, projectDir, plugins, benchmarks } = options
  const { plan } = experiment
  const runDir = runFolder(outputDir, row.name)
  // An attempt that died before it told of its start has a segment, and the record does not know of it.
  const attempt = 1 + Math.max(row.attempt, ...(await segmentNumbers(runDir)))
  const cursor = await store.cursor(`run:${row.id}`)
  const resumed = row.attempt === 0 ? undefined : await resumeFrom(store, row)
  const arms = new Map((await referencedRuns(store, row)).map((run) => [run.arm, run.id]))
  const start = row.afterRun ?? arms.get(armReference(row.config.model.init_from_checkpoint) ?? '')
  const before = start === undefined ? undefined : await lastOf(store, start, 'state')
  const armWeights: [string, string][] = []
  for (const [arm, id] of arms) {
    const uri = await lastOf(store, id, 'sampler')
    if (uri !== undefined) armWeights.push([arm, uri])
  }
  return {
    experiment_id: experiment.id,
    experiment: experiment.name,
    ...(experiment.hypothesis === undefined ? {} : { hypothesis: experiment.hypothesis }),
    run_id: row.id,
    run_name: row.name,
    arm: row.arm,
    attempt,
    config: row.config,
    config_hash: row.configHash,
    run_dir: runDir,
    segment_file: segmentFile(runDir, attempt),
    next_item: cursor.nextItem,
    next_event: cursor.nextEvent,
    ...(resumed?.resume === undefined ? {} : { resume: resumed.resume }),
    ...(before === undefined ? {} : { start_weights: before }),
    arm_weights: Object.fromEntries(armWeights),
    guard_trips: resumed?.guardTrips ?? 0,
    past: resumed?.past ?? RunAssignment.shape.past.parse(undefined),
    benchmarks: [...benchmarks],
    ...(plan.objective === undefined ? {} : { objective: plan.objective }),
    callbacks: callbacksOf(plan),
    project_dir: projectDir,
    plugin_files: pluginFilesOf(plugins),
    log_rollouts: plan.experiment.log_rollouts,
    checkpoints_kept: CHECKPOINTS_KEPT,
  }
}

/** Folder of a run inside the experiment's. */
export function runFolder(outputDir: string, runName: string): string {
  return join(outputDir, runName)
}

/** What an attempt at a run wrote. */
export function segmentFile(runDir: string, attempt: number): string {
  return join(runDir, 'segments', `${attempt}.jsonl`)
}

/** Attempts that have a segment, in order. */
export async function segmentNumbers(runDir: string): Promise<number[]> {
  const folder = join(runDir, 'segments')
  try {
    const names = await readdir(folder)
    return names.flatMap((name) => Number(/^([1-9]\d{0,8})\.jsonl$/.exec(name)?.[1] ?? [])).sort((a, b) => a - b)
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return []
    throw fileError('list', folder, cause)
  }
}

/** Callbacks of every run; without any, its files are written. */
export function callbacksOf({ experiment }: Plan): PluginSpec[] {
  return experiment.callbacks.length > 0 ? experiment.callbacks : [{ kind: 'local_logger', params: {} }]
}

async function resumeFrom(store: OpenStore, row: RunRow) {
  const checkpoints = await store.checkpoints(row.id)
  const state = checkpoints.filter(({ kind }) => kind === 'state').sort((a, b) => b.step - a.step)[0]
  if (state === undefined || row.engineId === undefined) return undefined
  const evals = await store.evals(row.id)
  const events = await store.events({ stream: `run:${row.id}`, afterSeq: 0, limit: 1_000_000 })
  const guards = pastGuards(events, state.step)
  return {
    resume: { step: state.step, uri: state.ref, engine_id: row.engineId, final: state.final },
    guardTrips: guards.trips.filter(({ action }) => action === 'roll_back').length,
    past: {
      metrics: metricsOf(events, state.step),
      losses: pastLosses(events, state.step),
      guards: { rows: [...guards.rows], trips: [...guards.trips] },
      saved: checkpoints.flatMap(({ step, kind }) =>
        kind !== 'state' || step > state.step ? [] : [{ step, metrics: metricsOf(events, step) }],
      ),
      evals: evals.flatMap(({ benchmark, split, step, metrics }) =>
        step === undefined || step > state.step ? [] : [{ benchmark, split, step, metrics }],
      ),
      checkpoints: checkpoints.flatMap(({ step, kind, ref }) =>
        step > state.step ? [] : [{ step, kind: CheckpointKind.parse(kind), uri: ref }],
      ),
    },
  }
}

async function lastOf(store: OpenStore, runId: string, kind: CheckpointKind): Promise<string | undefined> {
  const saved = (await store.checkpoints(runId)).filter((each) => each.kind === kind)
  return saved.sort((a, b) => b.step - a.step)[0]?.ref
}

async function referencedRuns(store: OpenStore, row: RunRow): Promise<RunRow[]> {
  const arms = referencedArms(row.config)
  if (arms.length === 0) return []
  const runs = await store.runs(row.experimentId)
  return runs.filter(({ arm, seed }) => arms.includes(arm) && seed === row.seed)
}

function metricsOf(events: Awaited<ReturnType<OpenStore['events']>>, step: number): Metrics {
  for (const event of events.toReversed()) {
    if (event.type === 'step.finished' && event.step === step) return event.metrics
  }
  return {}
}
