// The assignment of a run: everything a worker may know, and where it resumes after an interruption.

import { pastGuards, pastLosses } from '../../algorithms/index.ts'
import { armReference, CheckpointKind, type Metrics, RunAssignment, referencedArms } from '../../contracts/index.ts'
import { runFolder, segmentFile, segmentNumbers } from '../../record/index.ts'
import { type OpenStore, type RunRow, requireTraining } from '../../store/index.ts'
import type { ExperimentSession } from './experiment-session.ts'
import { callbacksOf } from './plan-inputs.ts'

/** Checkpoints that a run keeps, besides the best. */
const CHECKPOINTS_KEPT = 3

/** What of a session a run is assigned by. */
type Assigning = Pick<ExperimentSession, 'store' | 'experiment' | 'outputDir' | 'projectDir' | 'plugins' | 'benchmarks'>

export async function assignRun(row: RunRow, session: Assigning): Promise<RunAssignment> {
  const { store, experiment, outputDir, projectDir, plugins, benchmarks } = session
  const { plan } = experiment
  const runDir = runFolder(outputDir, row.name)
  // An attempt that died before it reported its start has a segment, and the record does not know of it.
  const attempt = 1 + Math.max(row.attempt, ...(await segmentNumbers(runDir)))
  const cursor = await store.cursor(`run:${row.id}`)
  const resumed = row.attempt === 0 ? undefined : await resumeFrom(store, row)
  const arms = new Map((await referencedRuns(store, row)).map((run) => [run.arm, run.id]))
  const { config } = requireTraining(row)
  const start = row.afterRun ?? arms.get(armReference(config.model.init_from_checkpoint) ?? '')
  const before = start === undefined ? undefined : await lastOf(store, start, 'state')
  const armWeights: [string, string][] = []
  for (const [arm, id] of arms) {
    const uri = await lastOf(store, id, 'sampler')
    if (uri !== undefined) armWeights.push([arm, uri])
  }
  return {
    experiment_id: experiment.id,
    experiment: experiment.name,
    hypothesis: experiment.hypothesis,
    run_id: row.id,
    run_name: row.name,
    arm: row.arm,
    attempt,
    config,
    config_hash: row.configHash,
    run_dir: runDir,
    segment_file: segmentFile(runDir, attempt),
    next_item: cursor.nextItem,
    next_event: cursor.nextEvent,
    resume: resumed?.resume === undefined ? undefined : resumed.resume,
    start_weights: before,
    arm_weights: Object.fromEntries(armWeights),
    guard_trips: resumed?.guardTrips ?? 0,
    past: resumed?.past ?? RunAssignment.shape.past.parse(undefined),
    benchmarks: [...benchmarks],
    objective: plan.objective,
    callbacks: callbacksOf(plan),
    project_dir: projectDir,
    plugin_files: plugins.map(({ spec, from }) => ({ spec, from })),
    log_rollouts: plan.experiment.log_rollouts,
    checkpoints_kept: CHECKPOINTS_KEPT,
  }
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
  const arms = referencedArms(requireTraining(row).config)
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
