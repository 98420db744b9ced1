// A job: tasks x agents x attempts. Trials are independent: what happens to one, its creation included, never ends another. Everything
// that counts is on the disk before it counts, so a job that was killed resumes from its folder.
import { join } from 'node:path'
import type { RolloutError } from '../../contracts/index.ts'
import { type Clock, createRedactor, createSlots, onAbort, type Slots, systemClock } from '../../kernel/index.ts'
import type { HostEnv } from '../task/index.ts'
import { scalarReward } from '../trial/rewards.ts'
import { runTrial } from '../trial/run-trial.ts'
import { agentName } from '../trial/trial-config.ts'
import { redactFolder, trialSecrets } from '../trial/trial-record.ts'
import type { AgentInfo, TrialResult } from '../trial/trial-result.ts'
import type { TrialEvent, TrialOutcome, TrialRequest } from '../trial/trial-scope.ts'
import type { JobConfig } from './job-config.ts'
import { type JobFolder, type JobResult, openJobFolder } from './job-folder.ts'
import { isRetried, retryWaitMs } from './job-schedule.ts'
import { jobStats } from './job-stats.ts'
import { concurrencyKey, type JobTask, type PlannedTrial, planTrials } from './plan-trials.ts'
import { creationFailure, findTrial, keepAttempt } from './trial-folder.ts'

/** What a planned trial needs of the world besides its plan. */
export type TrialParts = Pick<TrialRequest, 'openEnvironment' | 'agentInfo' | 'setupAgent' | 'runAgent' | 'secrets'>

/** Which finished trials of an earlier run are run again. Cancelled ones always are. */
interface Rerun {
  /** Those that ended with one of these exceptions. */
  readonly errors?: readonly string[] | undefined
  /** Those without a reward. */
  readonly unscored?: boolean | undefined
}

export interface JobRequest {
  readonly config: JobConfig
  readonly tasks: readonly JobTask[]
  /** Folder of the job; one that holds the same job is continued. */
  readonly dir: string
  /** Makes the parts of a trial; what it throws is a failure of that trial alone. */
  prepare(trial: PlannedTrial, signal: AbortSignal): Promise<TrialParts>
  readonly hostEnv: HostEnv
  readonly rerun?: Rerun | undefined
  readonly clock?: Clock | undefined
  readonly graceMs?: number | undefined
  readonly signal: AbortSignal
  onEvent?: ((event: { event: TrialEvent; trial: PlannedTrial; attempt: number }) => void) | undefined
  onTrial?: ((end: JobTrial) => void) | undefined
}

/** A trial of the job that has come to its end. */
export interface JobTrial {
  readonly planned: PlannedTrial
  readonly result: TrialResult
  /** Absent: there is no score. */
  readonly reward?: number | undefined
  readonly error?: RolloutError | undefined
  /** It was there from an earlier run. */
  readonly isKept: boolean
}

export interface JobEnd {
  readonly result: JobResult
  readonly trials: readonly JobTrial[]
  /** Why trials are missing. */
  readonly aborted?: string | undefined
}

/** Runs what is left of a job. Rejects when it is cancelled, after every trial has been closed. */
export async function runJob(request: JobRequest): Promise<JobEnd> {
  const { config, tasks, clock = systemClock, signal } = request
  const now = () => new Date(clock.now()).toISOString()
  const tables = [config.environment.env, config.verifier.env, ...config.agents.map(({ env }) => env)]
  const redact = createRedactor(trialSecrets(tables, request.hostEnv))
  const folder = await openJobFolder(request.dir, { config, tasks, now: now(), redact })
  const planned = planTrials(folder.jobId, config, tasks)
  const job = createJob(request, folder, planned, now)
  const ends = await Promise.allSettled(planned.map((trial) => job.run(trial)))
  const failed = ends.find((end) => end.status === 'rejected')
  const result = await job.keep(failed === undefined && job.aborted() === undefined && !signal.aborted)
  signal.throwIfAborted()
  if (failed !== undefined) throw failed.reason // the record could not be written: nothing else rejects
  const trials = ends.flatMap((end) => (end.status === 'fulfilled' && end.value !== undefined ? [end.value] : []))
  const aborted = job.aborted()
  return { result, trials, aborted }
}

function createJob(request: JobRequest, folder: JobFolder, planned: readonly PlannedTrial[], now: () => string) {
  const { config, clock = systemClock, onTrial } = request
  const slots = createSlots(config.n_concurrent_trials)
  const agentSlots = agentSlotsOf(config)
  const stopping = new AbortController()
  const stopListening = onAbort(request.signal, () => stopping.abort(request.signal.reason))
  const done = new Map<string, TrialResult>()
  let retries = 0
  let failures = 0
  let aborted: string | undefined
  let keeping: Promise<unknown> = Promise.resolve()

  const progress = (isFinished: boolean): JobResult => ({
    id: folder.jobId,
    started_at: folder.startedAt,
    updated_at: now(),
    finished_at: isFinished ? now() : null,
    n_total_trials: planned.length,
    stats: jobStats(
      planned.flatMap(({ config: { trial_name } }) => done.get(trial_name) ?? []),
      { total: planned.length, running: slots.taken, retries, metrics: config.metrics.map(({ type }) => type) },
    ),
    evsys: aborted === undefined ? undefined : { aborted },
  })
  // One write at a time, of the newest state: a thousand trials that end together do not wait for a thousand writes.
  let isWaiting = false
  const keepSoon = () => {
    if (isWaiting) return
    isWaiting = true
    keeping = keeping.then(() => {
      isWaiting = false
      return folder.keep(progress(false))
    })
    keeping.catch(() => {}) // the last write, which is awaited, throws
  }
  const finished = (end: JobTrial): JobTrial => {
    done.set(end.planned.config.trial_name, end.result)
    if (end.reward === undefined && end.error?.infra === true) failures += 1
    if (config.abort_after_failures !== undefined && failures >= config.abort_after_failures) {
      aborted ??= `${failures} trials failed by infrastructure, the last with: ${end.error?.message ?? ''}`
    }
    keepSoon()
    onTrial?.(end)
    return end
  }

  let earlier: Promise<unknown> = Promise.resolve()
  return {
    aborted: () => aborted,
    async keep(isFinished: boolean): Promise<JobResult> {
      stopListening()
      await keeping.catch(() => {})
      const result = progress(isFinished)
      await folder.keep(result)
      return result
    },
    async run(trial: PlannedTrial): Promise<JobTrial | undefined> {
      const dir = join(folder.dir, trial.config.trial_name)
      // However long each folder takes to read, trials ask for their places in the order of the plan.
      const found = Promise.all([findTrial(dir), earlier]).then(([trialState]) => trialState)
      earlier = found.catch(() => {})
      let { result, isBegun, failedBefore } = await found
      retries += failedBefore
      if (result !== undefined && isFinal(result, failedBefore, request)) return finished(endOf(trial, result, true))
      let isRepetition = result !== undefined && isRetried(result, failedBefore, config.retry)
      for (;;) {
        if (isBegun) await putAside(dir, trial, request)
        if (isRepetition) {
          retries += 1
          await clock.sleep(retryWaitMs(failedBefore, config.retry), stopping.signal).catch(() => {}) // no slot is held meanwhile
          failedBefore += 1
        }
        const place = await slots.take(stopping.signal).catch(() => undefined)
        if (place === undefined || aborted !== undefined) {
          place?.[Symbol.dispose]()
          return undefined
        }
        try {
          keepSoon()
          const outcome = await attemptTrial(request, trial, dir, {
            signal: stopping.signal,
            attempt: failedBefore + 1,
            turn: agentSlots(trial.agent),
          })
          result = outcome.result
        } finally {
          place[Symbol.dispose]()
        }
        if (stopping.signal.aborted || !isRetried(result, failedBefore, config.retry))
          return finished(endOf(trial, result, false))
        isBegun = true
        isRepetition = true
      }
    },
  }
}

async function attemptTrial(
  { prepare, hostEnv, clock, graceMs, onEvent }: JobRequest,
  trial: PlannedTrial,
  dir: string,
  { signal, attempt, turn }: { signal: AbortSignal; attempt: number; turn: Slots | undefined },
): Promise<Pick<TrialOutcome, 'result'>> {
  const trialId = crypto.randomUUID()
  let parts: TrialParts
  const { task } = trial.jobTask
  try {
    if (task === undefined) throw trial.jobTask.error
    parts = await prepare(trial, signal)
    return await runTrial({
      task,
      config: trial.config,
      trialId,
      dir,
      hostEnv,
      signal,
      ...parts,
      agentTurn: turn === undefined ? undefined : (during) => turn.take(during),
      clock,
      graceMs,
      onEvent: (event) => onEvent?.({ event, trial, attempt }),
    })
  } catch (error) {
    return creationFailure(trial, { error, trialId, dir, agentInfo: agentInfoOf(trial), clock: clock ?? systemClock })
  }
}

/** What is known of an agent before it is made. */
function agentInfoOf({ agent }: Pick<PlannedTrial, 'agent'>): AgentInfo {
  const [provider, ...rest] = (agent.model_name ?? '').split('/')
  const model =
    rest.length === 0 ? { name: provider ?? '', provider: null } : { name: rest.join('/'), provider: provider ?? null }
  return { name: agentName(agent), version: 'unknown', model_info: agent.model_name === undefined ? null : model }
}

function isFinal(result: TrialResult, failedBefore: number, { config, rerun }: JobRequest): boolean {
  const type = result.exception_info?.exception_type
  if (type === 'CancelledError' || (type !== undefined && rerun?.errors?.includes(type))) return false
  if (rerun?.unscored === true && result.verifier_result === null) return false
  return !isRetried(result, failedBefore, config.retry)
}

// An attempt that was killed had no time to take its secrets out.
async function putAside(dir: string, { config, jobTask }: PlannedTrial, { hostEnv }: JobRequest): Promise<void> {
  const kept = await keepAttempt(dir)
  if (kept === undefined) return
  const { agent, environment, verifier } = config
  const task = jobTask.task?.config
  const ofTask = [task?.environment.env, task?.verifier.env, task?.solution.env].filter((table) => table !== undefined)
  const secrets = trialSecrets([agent.env, environment.env, verifier.env, ...ofTask], hostEnv)
  await redactFolder(kept, createRedactor(secrets), Object.keys(secrets).length > 0)
}

function agentSlotsOf({ agents }: JobConfig): (agent: JobConfig['agents'][number]) => Slots | undefined {
  const byKey = new Map<string, Slots>()
  for (const agent of agents) {
    const caps = agents
      .filter((each) => concurrencyKey(each) === concurrencyKey(agent))
      .flatMap(({ n_concurrent }) => n_concurrent ?? [])
    if (caps.length > 0) byKey.set(concurrencyKey(agent), createSlots(Math.min(...caps)))
  }
  return (agent) => byKey.get(concurrencyKey(agent))
}

function endOf(planned: PlannedTrial, result: TrialResult, isKept: boolean): JobTrial {
  const error = result.evsys?.error
  const reward = error?.infra === true ? undefined : scalarReward(result.verifier_result?.rewards)
  return { planned, result, isKept, reward, error }
}
