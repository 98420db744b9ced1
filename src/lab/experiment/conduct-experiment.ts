// An experiment in the record, from its first run to its conclusion: leaks, schedule, baselines, evidence, and how it stops.
import type { ExperimentEvent, ExperimentResult, Leak } from '../../contracts/index.ts'
import { keptSpeed } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import { recordedLeaks, recordedSpeeds } from '../../record/index.ts'
import { type ExperimentRow, requireTrainingPlan } from '../../store/index.ts'
import { checkLeaks } from './check-leaks.ts'
import { concludeExperiment } from './conclude-experiment.ts'
import { type CheckedExperiment, ExperimentSession, type SessionOptions } from './experiment-session.ts'
import { scheduleRuns } from './schedule-runs.ts'
import { scoreBaselines } from './score-baselines.ts'
import { ingestLeftovers, reportRun, superviseRun } from './supervise-run.ts'

/** Puts a checked experiment into the record, or resumes it, and brings it to its conclusion. */
export async function conductExperiment(
  checked: CheckedExperiment,
  options: SessionOptions,
): Promise<ExperimentResult> {
  const session = await ExperimentSession.open(checked, options)
  try {
    return await conduct(session)
  } finally {
    await session.close() // not `await using`: of two errors, say of a full disk, one is thrown
  }
}

async function conduct(session: ExperimentSession): Promise<ExperimentResult> {
  const { store, experiment, outputDir, lease, clock, hooks } = session
  const started = clock.now()
  await session.work(async () => {
    try {
      await runAll(session)
    } finally {
      session.kill() // before the processes are closed: nothing waits for them any more
    }
    session.lost.throwIfAborted()
    if (session.options.signal.aborted) throw interrupted(experiment)
    if (session.stopping.aborted) await stopUnfinished(session, session.stopping.reason)
  })
  await recordSpeeds(session)
  const wallS = (clock.now() - started) / 1000
  const result = await concludeExperiment(store, experiment, { outputDir, clock, lease, wallS })
  await hooks.ended(result)
  return result
}

async function runAll(session: ExperimentSession): Promise<void> {
  const { store, experiment, outputDir, options, hooks, stopping, signal } = session
  const either = AbortSignal.any([signal, stopping])
  const checked = await checkLeaks({ ...session, signal: either }).catch((error: unknown) => {
    if (signal.aborted || !stopping.aborted) throw error
    return { leaks: [], notices: [] } // what was to start is stopped below
  })
  await recordLeaks(session, checked.leaks)
  await hooks.started()
  for (const row of await store.runs(experiment.id)) {
    if (row.status !== 'completed') await ingestLeftovers(row, session)
  }
  const runs = await store.runs(experiment.id)
  const notices = [...session.checked.notices, ...checked.notices]
  const plan = requireTrainingPlan(experiment.plan)
  options.onPlan?.({ plan, notices, experimentId: experiment.id, outputDir, runs })
  await scheduleRuns({
    runs,
    limit: session.limit,
    signal: stopping,
    giveUp: () => session.kill(),
    async run(row) {
      await hooks.group(row.arm)
      return superviseRun(row, session)
    },
    skip: (row, before) =>
      reportRun(session, row, {
        type: 'run.finished',
        status: 'cancelled',
        metrics: {},
        error: { code: 'BACKEND_FAILED', message: `${before.name}, whose weights it needs, did not complete` },
      }),
  })
  if (stopping.aborted) return
  await scoreBaselines(session, either).catch((error: unknown) => {
    if (!stopping.aborted) throw error // stopped in the middle: the model has no score, as the record says
  })
}

async function stopUnfinished(session: ExperimentSession, reason: unknown): Promise<void> {
  const error = EvsysError.is(reason)
    ? reason.toRecord()
    : { code: 'BUDGET_EXCEEDED' as const, message: String(reason) }
  for (const row of await session.store.runs(session.experiment.id)) {
    if (row.status === 'pending' || row.status === 'running') {
      await reportRun(session, row, { type: 'run.finished', status: 'stopped', metrics: {}, error })
    }
  }
}

function interrupted({ id }: ExperimentRow): EvsysError {
  return new EvsysError('INTERRUPTED', `experiment ${id} was interrupted; what is finished is kept`, {
    fix: 'go on with `evsys run FILE --resume`',
  })
}

/** Records the leaks that an experiment allows: once, however often it is resumed. */
async function recordLeaks(
  { store, experiment, clock, lease }: ExperimentSession,
  leaks: readonly Leak[],
): Promise<void> {
  const { id: experimentId } = experiment
  if (leaks.length === 0 || (await recordedLeaks(store, experimentId)).length > 0) return
  const stream = `experiment:${experimentId}`
  const { nextEvent } = await store.cursor(stream)
  const at = new Date(clock.now()).toISOString()
  const events = leaks.map(
    (leak, index): ExperimentEvent => ({
      seq: nextEvent + index,
      at,
      experiment_id: experimentId,
      type: 'data.leaked',
      ...leak,
    }),
  )
  await store.append(stream, nextEvent - 1, events, lease)
}

/** Records what this machine has measured of the engines that the runs used, each engine once. For readers: nothing is compared by it. */
async function recordSpeeds({ store, experiment, clock, lease }: ExperimentSession): Promise<void> {
  const { id: experimentId } = experiment
  const recorded = await recordedSpeeds(store, experimentId)
  const engines = new Set((await store.runs(experimentId)).flatMap(({ engineId }) => engineId ?? []))
  const stream = `experiment:${experimentId}`
  for (const engine_id of engines) {
    const gflops = recorded.has(engine_id) ? undefined : await keptSpeed(cacheFolder(), engine_id)
    if (gflops === undefined) continue
    const { nextEvent: seq } = await store.cursor(stream)
    const at = new Date(clock.now()).toISOString()
    const base = { seq, at, experiment_id: experimentId }
    const event: ExperimentEvent = { ...base, type: 'engine.measured', engine_id, gflops }
    await store.append(stream, seq - 1, [event], lease)
  }
}
