// An experiment in the record, from its first run to its conclusion: leaks, schedule, baselines, evidence, and how it stops.
import { join } from 'node:path'
import { type ExperimentResult, type Leak, referencedArms } from '../../contracts/index.ts'
import { keptSpeed } from '../../engine/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { cacheFolder } from '../../models/index.ts'
import { isDryRun, recordedLeaks, recordedSpeeds, resultOf } from '../../record/index.ts'
import { openStore, type RunRow, requireTraining, requireTrainingPlan } from '../../store/index.ts'
import { appendEvents, finishedExperiment, recordResume } from './begin-experiment.ts'
import type { CheckedExperiment } from './check-experiment.ts'
import { concludeExperiment } from './conclude-experiment.ts'
import { ExperimentSession, ResumedMeanwhile, type SessionOptions } from './experiment-session.ts'
import { reusableRuns, reuseRun } from './reuse-runs.ts'
import { scoreBaselines } from './score-baselines.ts'
import { ingestLeftovers, reportRun, superviseRun } from './supervise-run.ts'

/** Puts a checked experiment into the record, or resumes it, and brings it to its conclusion. */
export async function conductExperiment(
  checked: CheckedExperiment,
  options: SessionOptions,
): Promise<ExperimentResult> {
  const known = options.resume === true ? await alreadyFinished(checked, options) : undefined
  if (known !== undefined) return known
  const session = await openSession(checked, options)
  if (!(session instanceof ExperimentSession)) return session
  try {
    return await conduct(session)
  } finally {
    await session.close() // not `await using`: of two errors, say of a full disk, one is thrown
  }
}

/** The session, or the result where another process finished what was to be resumed. */
async function openSession(
  checked: CheckedExperiment,
  options: SessionOptions,
): Promise<ExperimentSession | ExperimentResult> {
  try {
    return await ExperimentSession.open(checked, options)
  } catch (error) {
    const finished = error instanceof ResumedMeanwhile ? await alreadyFinished(checked, options) : undefined
    if (finished === undefined) throw error
    return finished
  }
}

/** The result of the newest experiment of the same configuration, where nothing of it is left to resume. */
async function alreadyFinished(
  { plan, projectDir }: CheckedExperiment,
  { clock, signal }: SessionOptions,
): Promise<ExperimentResult | undefined> {
  await using store = await openStore(join(projectDir, '.evsys', 'evsys.db'), { clock, signal })
  const finished = await finishedExperiment(store, plan)
  return finished && (await resultOf(store, finished, projectDir))
}

async function conduct(session: ExperimentSession): Promise<ExperimentResult> {
  const { store, experiment, outputDir, projectDir, lease, clock, hooks } = session
  const started = clock.now()
  const earlierS = session.isResumed ? await recordResume(session) : 0
  await session.work(async () => {
    try {
      await runAll(session)
    } finally {
      session.kill() // before the processes are closed: nothing waits for them any more
    }
    session.lost.throwIfAborted()
    if (session.options.signal.aborted) {
      const message = `experiment ${experiment.id} was interrupted; what is finished is kept`
      throw new EvsysError('INTERRUPTED', message, { fix: 'resume it with `evsys run FILE --resume`' })
    }
    if (session.stopping.aborted) await stopUnfinished(session, session.stopping.reason)
  })
  await recordSpeeds(session)
  const wallS = earlierS + (clock.now() - started) / 1000
  const result = await concludeExperiment(store, experiment, { outputDir, projectDir, clock, lease, wallS })
  await hooks.ended(result)
  return result
}

async function runAll(session: ExperimentSession): Promise<void> {
  const { store, experiment, outputDir, options, hooks, stopping, signal } = session
  await recordLeaks(session, session.leaks.leaks)
  await hooks.started()
  for (const row of await store.runs(experiment.id)) {
    if (row.status !== 'completed') await ingestLeftovers(row, session)
  }
  const reusable = options.fresh === true || isDryRun(experiment) ? undefined : await reusableRuns(session)
  const runs = await store.runs(experiment.id)
  const isFresh = options.resume === true && !session.isResumed
  const fresh = isFresh ? [{ text: 'nothing of this experiment is in the record yet, so --resume starts it' }] : []
  const notices = [...session.checked.notices, ...session.leaks.notices, ...fresh]
  const plan = requireTrainingPlan(experiment.plan)
  options.onPlan?.({ plan, notices, experimentId: experiment.id, outputDir, runs })
  await scheduleRuns({
    runs,
    limit: session.limit,
    signal: stopping,
    giveUp: () => session.kill(),
    async run(row) {
      await hooks.group(row.arm)
      const origin = reusable?.get(row.id)
      return origin === undefined
        ? await superviseRun(row, session)
        : await reuseRun(row, origin, session, options.onItem)
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
  await scoreBaselines(session, AbortSignal.any([signal, stopping])).catch((error: unknown) => {
    if (!stopping.aborted) throw error // stopped in the middle: the model has no score, as the record says
  })
}

async function stopUnfinished(session: ExperimentSession, reason: unknown): Promise<void> {
  const error = EvsysError.is(reason)
    ? reason.toRecord()
    : { code: 'BUDGET_EXCEEDED' as const, message: String(reason) }
  for (const row of await session.store.runs(session.experiment.id)) {
    if (row.status === 'pending' || row.status === 'running') {
      const cost_usd = session.spentBy(row.id)
      await reportRun(session, row, { type: 'run.finished', status: 'stopped', metrics: {}, error, cost_usd })
    }
  }
}

/** Records the leaks that an experiment allows: once, however often it is resumed. */
async function recordLeaks(session: ExperimentSession, leaks: readonly Leak[]): Promise<void> {
  if (leaks.length === 0 || (await recordedLeaks(session.store, session.experiment.id)).length > 0) return
  await appendEvents(
    session,
    leaks.map((leak) => ({ type: 'data.leaked', ...leak })),
  )
}

/** Records what this machine has measured of the engines that the runs used, each engine once. For readers: nothing is compared by it. */
async function recordSpeeds(session: ExperimentSession): Promise<void> {
  const { store, experiment } = session
  const recorded = await recordedSpeeds(store, experiment.id)
  for (const engine_id of new Set((await store.runs(experiment.id)).flatMap(({ engineId }) => engineId ?? []))) {
    const gflops = recorded.has(engine_id) ? undefined : await keptSpeed(cacheFolder(), engine_id)
    if (gflops !== undefined) await appendEvents(session, [{ type: 'engine.measured', engine_id, gflops }])
  }
}

interface Schedule {
  readonly runs: readonly RunRow[]
  readonly limit: number
  /** Aborted: no further run starts; those that were started are waited for. */
  readonly signal: AbortSignal
  /** Runs one. True: runs that follow may start. What it throws ends the whole schedule. */
  run(row: RunRow): Promise<boolean>
  /** A run whose predecessor did not end well. */
  skip(row: RunRow, predecessor: RunRow): Promise<void>
  /** Something was thrown: the other runs are to end at once. */
  giveUp(): void
}

/**
 * Starts runs in plan order, as many at a time as there is room for; a run waits for those whose weights it needs: the one before it
 * in a chain, and the arms that it refers to. Returns, or throws the first error, when nothing runs any more.
 */
export async function scheduleRuns({ runs, limit, signal, run, skip, giveUp }: Schedule): Promise<void> {
  const byId = new Map(runs.map((row) => [row.id, row]))
  const ended = new Map<string, boolean>(runs.filter((row) => row.status === 'completed').map((row) => [row.id, true]))
  const waiting = runs.filter((row) => !ended.has(row.id))
  const active = new Set<Promise<void>>()
  const errors: unknown[] = []

  const attempt = async (work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      errors.push(error)
      giveUp()
    }
  }
  const start = (row: RunRow) => {
    const work = attempt(async () => {
      ended.set(row.id, await run(row))
    }).then(() => {
      active.delete(work)
    })
    active.add(work)
  }
  while (waiting.length > 0 || active.size > 0) {
    if (signal.aborted || errors.length > 0) waiting.length = 0
    for (const row of [...waiting]) {
      const needed = predecessors(row, byId)
      const failed = needed.find(({ id }) => ended.get(id) === false)
      const isReady = needed.every(({ id }) => ended.get(id) === true)
      if (failed === undefined && (!isReady || active.size >= limit)) continue
      waiting.splice(waiting.indexOf(row), 1)
      if (failed === undefined) start(row)
      else {
        await attempt(() => skip(row, failed))
        ended.set(row.id, false)
      }
    }
    if (active.size > 0) await Promise.race(active)
  }
  if (errors.length > 0) throw errors[0]
}

function predecessors(row: RunRow, byId: ReadonlyMap<string, RunRow>): RunRow[] {
  const arms = referencedArms(requireTraining(row).config)
  const before = row.afterRun === undefined ? undefined : byId.get(row.afterRun)
  const others =
    arms.length === 0 ? [] : [...byId.values()].filter(({ arm, seed }) => arms.includes(arm) && seed === row.seed)
  return before === undefined ? others : [before, ...others]
}
