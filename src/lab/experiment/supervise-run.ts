// One run from the controller's side: assign it, store what its worker writes, evaluate its weights, and record how it ended, also when
// the worker did not live to report it.
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pastGuards, pastLosses } from '../../algorithms/index.ts'
import { engineKinds } from '../../backends/index.ts'
import {
  armReference,
  CheckpointKind,
  type ErrorRecord,
  FailureTally,
  type Item,
  type Metrics,
  type PluginCard,
  RunAssignment,
  type RunEvent,
  referencedArms,
  teachersOf,
} from '../../contracts/index.ts'
import {
  type AnnouncedWait,
  announceWait,
  EvsysError,
  fileError,
  isDiskFull,
  isDiskFullError,
  onAbort,
  sweepTemporary,
  systemCode,
} from '../../kernel/index.ts'
import { isDryRun, runFolder, segmentFile, segmentNumbers } from '../../record/index.ts'
import { type OpenStore, type RunRow, requireTraining } from '../../store/index.ts'
import { untilRunDirFree } from '../workers/run-holder.ts'
import { createIntake, type SegmentItem } from '../workers/segment-reader.ts'
import type { RunOutcome } from '../workers/worker-pool.ts'
import { pluginFilesOf } from '../workers/worker-process.ts'
import { callbacksOf } from './check-experiment.ts'
import { EvalLedger, refused } from './eval-ledger.ts'
import { evaluateRun } from './evaluate-run.ts'
import type { RunHost } from './experiment-session.ts'
import { guardCheckpoints } from './own-weights.ts'

/** Times that a run is begun again whose worker died, or whose trainer failed while it trained. */
const MOST_AGAIN = 1

/**
 * Does one run; begins it again at its last checkpoint, once, where a process of it was lost. True: it completed. It throws what is no
 * fault of the run: a record that cannot be written, a full disk.
 */
export async function superviseRun(row: RunRow, session: RunHost): Promise<boolean> {
  const { store, outputDir, signal, stopping, options } = session
  for (let again = 0, before = row; ; again++) {
    const ended = await conductRun(before, session)
    signal.throwIfAborted()
    if (ended.outcome === 'interrupted') return false
    const now = (await store.run(row.id)) ?? before
    if (now.status === 'completed') return true // also where its worker died right after it had written so
    if (ended.outcome === 'lost') await sweepRun(runFolder(outputDir, row.name))
    const error = ended.outcome === 'lost' ? ended.error : now.error
    await requireSpace(outputDir, error)
    if (error !== undefined && again < MOST_AGAIN && !stopping.aborted && lostProcess(error, before, now)) {
      options.onNotice?.(`${row.name}: ${error.code}: ${error.message}; it is begun again at its last checkpoint`)
      before = now
      continue
    }
    if (ended.outcome === 'lost')
      await reportRun(session, row, { type: 'run.finished', status: 'failed', metrics: {}, error: ended.error })
    return false
  }
}

/**
 * Whether the run may do better in new processes. A service that failed before it did anything for the run is not there at all; a trainer
 * that is started here was there, and is started anew.
 */
function lostProcess({ code }: ErrorRecord, before: RunRow, now: RunRow): boolean {
  if (code !== 'BACKEND_FAILED') return code === 'WORKER_DIED'
  return now.attempt > before.attempt || requireTraining(now).config.backend.kind === 'local'
}

// What the worker was writing when it died: no one else writes there. A folder that it has closed to us keeps what is in it.
async function sweepRun(runDir: string): Promise<void> {
  const entries = await readdir(runDir, { recursive: true, withFileTypes: true }).catch(() => [])
  const folders = entries.flatMap((entry) => (entry.isDirectory() ? [join(entry.parentPath, entry.name)] : []))
  for (const folder of [runDir, ...folders]) await sweepTemporary(folder, { ofAll: true }).catch(() => {})
}

async function conductRun(row: RunRow, session: RunHost): Promise<RunOutcome> {
  const { pool, secrets, addresses, stopping, signal } = session
  const broken = new AbortController()
  const assignment = await assignRun(row, session)
  const onFailed = (error: unknown) => broken.abort(error)
  using news = watchNews(row, session)
  const onItem = (of: RunRow, item: Item) => {
    news.follow(item)
    session.onItem(of, item)
  }
  const ledger = await openLedger(row, session)
  const at = {
    store: guardCheckpoints(row, session),
    lease: session.lease,
    onItem,
    recorded: asRecorded(row, assignment.attempt, ledger),
  }
  const intake = createIntake(row, assignment.segment_file, assignment.next_item, at, onFailed)
  try {
    const ended = await pool.run(assignment, {
      onWritten: intake.onWritten,
      onEvaluate: (question) => evaluateRun(row, question, { ledger, caughtUp: intake.drain }, session),
      stopping,
      signal: AbortSignal.any([signal, broken.signal, news.overdue]),
      secrets: secrets.get(row.name) ?? {},
      addresses,
      trainer: trainerOf(assignment.config, session.checked.cards),
    })
    await intake.drain()
    return ended
  } catch (error) {
    signal.throwIfAborted()
    if (news.overdue.aborted) return { outcome: 'interrupted' }
    return { outcome: 'lost', error: faultOfRun(error) }
  } finally {
    await intake.close()
  }
}

/** The book of what is measured for an attempt at a run. */
async function openLedger(row: RunRow, { store, experiment, sealed, checked }: RunHost): Promise<EvalLedger> {
  const stream = { stream: `run:${row.id}`, afterSeq: 0, limit: 1_000_000 }
  const events = row.attempt === 0 ? [] : await store.events(stream)
  const past = events.flatMap((event) => ('experiment_id' in event ? [] : [event]))
  return new EvalLedger({
    benchmarks: sealed.sealed,
    objective: experiment.plan.objective,
    past,
    sandbox: checked.shutIn?.level,
  })
}

/** What stands in the record for what a run reports: what is known here is not for it to say. */
function asRecorded(row: RunRow, attempt: number, { recorded }: EvalLedger) {
  return (item: SegmentItem): Item => {
    if ('reused_from' in item && item.reused_from !== undefined) throw refused('it claims to repeat an earlier run')
    if (item.type === 'run.started') return recorded({ ...item, attempt, config_hash: row.configHash })
    return recorded(item)
  }
}

/** What a run that was asked to end may take until it reports anything. */
const LEAVE_MS = 10_000

/** A run is quiet when it reports nothing for three times as long as it did before, within these bounds. */
const LEAST_QUIET_MS = 5000
const MOST_QUIET_MS = 15_000

/** Says of a run that reports nothing what it is at. One that is interrupted and reports nothing more is ended, and resumes later. */
function watchNews({ name }: RunRow, { options }: RunHost) {
  const { signal, onNotice } = options
  const overdue = new AbortController()
  let doing = 'it loads its plugins and its data and opens its model'
  let leaving: AnnouncedWait | undefined
  const say = (seconds: number) => onNotice?.(`${name}: no news for ${seconds} s: ${doing}`)
  let waiting = announceWait(say)
  let newsMs = performance.now()
  let pauseMs = 0
  const stopListening = onAbort(signal, () => {
    leaving = announceWait((seconds) => {
      onNotice?.(`${name}: has not saved in ${seconds} s and is ended; --resume begins at its last checkpoint`)
      overdue.abort(new EvsysError('INTERRUPTED', 'the run did not save in time'))
    }, LEAVE_MS)
  })
  return {
    overdue: overdue.signal,
    follow(item: Item) {
      pauseMs = Math.max(pauseMs, performance.now() - newsMs)
      newsMs = performance.now()
      waiting[Symbol.dispose]()
      waiting = announceWait(say, Math.min(MOST_QUIET_MS, Math.max(LEAST_QUIET_MS, 3 * pauseMs)))
      leaving?.restart()
      doing = doingAfter(item) ?? doing
    },
    [Symbol.dispose]() {
      stopListening()
      waiting[Symbol.dispose]()
      leaving?.[Symbol.dispose]()
    },
  }
}

function doingAfter(item: Item): string | undefined {
  switch (item.type) {
    case 'run.started':
      return `it is at step ${(item.resumed_from_step ?? -1) + 2}`
    case 'step.finished':
      return `it is at step ${item.step + 2}, or saves after step ${item.step + 1}`
    case 'eval.started':
      return `it is evaluated on ${item.benchmark}`
    case 'eval.finished':
      return `its evaluation on ${item.benchmark} is done`
    case 'run.finished':
      return 'its process ends'
    default:
      return undefined
  }
}

/** Ingests what earlier attempts wrote and the record does not have: the first thing after a crash. */
export async function ingestLeftovers(row: RunRow, session: RunHost): Promise<void> {
  const runDir = runFolder(session.outputDir, row.name)
  await untilRunDirFree(runDir, session.signal) // a worker of a killed controller lives for a moment
  for (const attempt of await segmentNumbers(runDir)) {
    if (attempt < row.attempt) continue
    const { nextItem } = await session.store.cursor(`run:${row.id}`)
    const recorded = asRecorded(row, attempt, await openLedger(row, session))
    const { lease, onItem } = session
    const store = guardCheckpoints(row, session)
    const intake = createIntake(row, segmentFile(runDir, attempt), nextItem, { store, lease, onItem, recorded })
    try {
      await intake.drain()
    } catch (error) {
      faultOfRun(error) // what cannot be read is done again
    } finally {
      await intake.close()
    }
  }
}

// A segment that is damaged, or holds what the record refuses, is the work of the code in its worker. The record itself
// failing is not.
function faultOfRun(error: unknown): ErrorRecord {
  if (!EvsysError.is(error) || error.code === 'STORE_FAILED') throw error
  return error.toRecord()
}

/** The trainer that a run of the backend `local` is given. A backend of the project by that name starts what it wants. */
function trainerOf({ backend, model, algorithm }: RunAssignment['config'], cards: readonly PluginCard[]) {
  const isOurs = !cards.some(({ type, kind }) => type === 'backend' && kind === backend.kind)
  if (backend.kind !== 'local' || !isOurs) return undefined
  const engine = engineKinds.find((each) => each === (backend.params.engine ?? 'cpu'))
  if (engine === undefined) return undefined
  const others = teachersOf(algorithm.params).flatMap(({ base_model }) => base_model ?? [])
  return { engine, models: [...new Set([model.name, ...others])] }
}

type Body<E> = E extends unknown ? Omit<E, 'seq' | 'at' | 'run_id'> : never

/** Records an event of a run that has no worker to report it. */
export async function reportRun(
  { store, clock, onItem, lease }: RunHost,
  row: RunRow,
  body: Body<RunEvent>,
): Promise<void> {
  const { nextEvent, nextItem } = await store.cursor(`run:${row.id}`)
  const at = new Date(clock.now()).toISOString()
  const event = { ...body, seq: nextEvent, at, run_id: row.id } as RunEvent // the three fields that Body leaves out
  await store.push({ stream: `run:${row.id}`, fromSeq: nextItem, items: [event] }, lease)
  onItem(row, event)
}

// A full disk fails whatever is written next, in any run: it says nothing of the recipe, and the runs that met it are done again
// once there is space. So the experiment stops there instead of recording failures.
/** What a failed run is granted; less than this is a full disk, whatever the run failed with. */
const PROBE_BYTES = 256 * 1024

/** Throws when a run failed, with `error`, because its disk is full. */
export async function requireSpace(dir: string, error: ErrorRecord | undefined): Promise<void> {
  if (error !== undefined && isDiskFullError(error)) {
    throw new EvsysError(error.code, error.message, {
      fix: 'free some space (`df` shows how much), then resume with --resume.',
    })
  }
  const file = join(dir, `space-${process.pid}`)
  try {
    await writeFile(file, Buffer.alloc(PROBE_BYTES))
  } catch (cause) {
    if (isDiskFull(systemCode(cause))) throw fileError('write', file, cause)
  } finally {
    await rm(file, { force: true }).catch(() => {}) // a folder that is not there has no file either
  }
}

/** Checkpoints that a run keeps, besides the best. */
const CHECKPOINTS_KEPT = 3

/** Everything a worker may know, and where it resumes after an interruption. */
export async function assignRun(
  row: RunRow,
  {
    store,
    experiment,
    outputDir,
    projectDir,
    plugins,
    benchmarks,
    startWeights,
  }: Pick<RunHost, 'store' | 'experiment' | 'outputDir' | 'projectDir' | 'plugins' | 'benchmarks' | 'startWeights'>,
): Promise<RunAssignment> {
  const { plan } = experiment
  const runDir = runFolder(outputDir, row.name)
  // An attempt that died before it reported its start has a segment, and the record does not know of it.
  const attempt = 1 + Math.max(row.attempt, ...(await segmentNumbers(runDir)))
  const cursor = await store.cursor(`run:${row.id}`)
  const resumed = row.attempt === 0 ? undefined : await resumeFrom(store, row)
  const arms = new Map((await referencedRuns(store, row)).map((run) => [run.arm, run.id]))
  const { config } = requireTraining(row)
  const start = row.afterRun ?? arms.get(armReference(config.model.init_from_checkpoint) ?? '')
  const armWeights: Record<string, string> = {}
  for (const [arm, id] of arms) {
    const uri = await lastOf(store, id, 'sampler')
    if (uri !== undefined) armWeights[arm] = uri
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
    resume: resumed?.resume,
    start_weights: start === undefined ? startWeights : await lastOf(store, start, 'state'),
    arm_weights: armWeights,
    guard_trips: resumed?.guardTrips ?? 0,
    past: resumed?.past ?? RunAssignment.shape.past.parse(undefined),
    benchmarks: [...benchmarks],
    objective: plan.objective,
    callbacks: callbacksOf(plan),
    log_store: plan.experiment.log_store,
    project_dir: projectDir,
    plugin_files: pluginFilesOf(plugins),
    log_rollouts: plan.experiment.log_rollouts,
    is_dry: isDryRun(experiment),
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
  const tally = new FailureTally()
  for (const event of events) tally.take(event)
  return {
    resume: { step: state.step, uri: state.ref, engine_id: row.engineId, final: state.final },
    guardTrips: guards.trips.filter(({ action }) => action === 'roll_back').length,
    past: {
      metrics: metricsOf(events, state.step),
      losses: pastLosses(events, state.step),
      failures: tally.upTo(state.step),
      guards: { rows: [...guards.rows], trips: [...guards.trips] },
      saved: checkpoints.flatMap(({ step, kind }) =>
        kind !== 'state' || step > state.step ? [] : [{ step, metrics: metricsOf(events, step) }],
      ),
      evals: evals.flatMap(({ benchmark, split, step, metrics, error }) =>
        step === undefined || step > state.step || error !== undefined ? [] : [{ benchmark, split, step, metrics }],
      ),
      checkpoints: checkpoints.flatMap(({ step, kind, ref }) =>
        step > state.step ? [] : [{ step, kind: CheckpointKind.parse(kind), uri: ref }],
      ),
    },
  }
}

/** The last weights that a run saved. */
export async function lastOf(store: OpenStore, runId: string, kind: CheckpointKind): Promise<string | undefined> {
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
  const found = events.findLast((event) => event.type === 'step.finished' && event.step === step)
  return found?.type === 'step.finished' ? found.metrics : {}
}
