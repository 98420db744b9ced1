// One attempt of one agent at one task folder: environment, agent, artifacts, verification, record. It owns every deadline and closes
// whatever it opened; agents and verifiers only get a signal. Whatever goes wrong is part of the result.
import { mkdir } from 'node:fs/promises'
import type { Turn } from '../../contracts/index.ts'
import { messageOf, onAbort, systemClock } from '../../kernel/index.ts'
import { resolveEnvTable, taskRow } from '../task/index.ts'
import { removeTree } from './bring-home.ts'
import { phaseLimits, set } from './phase-limits.ts'
import { refuseUnsupported, unofferedWarnings } from './refuse-unsupported.ts'
import { runPart } from './run-part.ts'
import { runSteps } from './run-steps.ts'
import { scalarReward } from './step-rewards.ts'
import { type OpenTrialEnvironment, openTrialEnvironment } from './trial-environment.ts'
import { trialError } from './trial-error.ts'
import { openTrialRecord } from './trial-record.ts'
import { stateFolder, type TrialOutcome, type TrialRequest, type TrialScope } from './trial-scope.ts'
import { secretRedactor, trialSecrets } from './trial-secrets.ts'
import { underDeadline } from './under-deadline.ts'

/** Runs a trial to its result.json. Rejects only when the record itself cannot be written. */
export async function runTrial(request: TrialRequest): Promise<TrialOutcome> {
  const { task, config, hostEnv, clock = systemClock, onEvent } = request
  const { agent, environment, verifier } = config
  const tables = [task.config.environment.env, task.config.solution.env, agent.env, environment.env, verifier.env]
  const parts = [task, ...task.steps].map(({ verification }) => verification.env)
  const secrets = { ...trialSecrets([...tables, ...parts], hostEnv), ...request.secrets }
  const record = await openTrialRecord({
    ...{ task, config, trialId: request.trialId, dir: request.dir, agentInfo: request.agentInfo, clock },
    ...{ redact: secretRedactor(secrets), isHiding: Object.keys(secrets).length > 0 },
  })
  onEvent?.('start')
  using deadline = trialDeadline(request)
  const turns: Turn[] = []
  try {
    const agentEnv = resolveEnvTable(agent.env, hostEnv)
    const row = await taskRow(task)
    await attempt({ request, record, signal: deadline.signal, agentEnv, uncounted: deadline.uncounted, turns, row })
  } catch (error) {
    await record.fail(error)
  }
  if (request.signal.aborted) onEvent?.('cancel')
  await removeTree(stateFolder(request.dir)).catch((cause: unknown) =>
    record.warn(`files of the environment are left: ${messageOf(cause)}`),
  )
  const result = await record.finish()
  onEvent?.('end')
  const reward = result.evsys?.error?.infra === true ? undefined : scalarReward(result.verifier_result?.rewards)
  return { result, turns, ...(reward === undefined ? {} : { reward }) }
}

async function attempt(scope: TrialScope): Promise<void> {
  const { request, record, signal } = scope
  const { task, config, graceMs } = request
  const limits = phaseLimits(config, task, task)
  const agent = request.agentInfo.name
  refuseUnsupported(task, agent)
  for (const warning of unofferedWarnings(task, agent)) await record.warn(warning)
  await mkdir(stateFolder(request.dir), { recursive: true })
  const place = await record.timed(
    (timing) => {
      record.result.environment_setup = timing
    },
    () => {
      request.onEvent?.('environment-start')
      return openTrialEnvironment(scope, { path: task.path }, limits.environmentMs)
    },
  )
  try {
    record.ranIn(place.environment.level)
    await record.timed(
      (timing) => {
        record.result.agent_setup = timing
      },
      () =>
        underDeadline(async (during) => request.setupAgent?.(place.environment, during), {
          timeoutMs: limits.agentSetupMs,
          timeout: () =>
            trialError('AgentSetupTimeoutError', `the agent was not set up within ${limits.agentSetupMs / 1000} s`),
          signal,
          ...(graceMs === undefined ? {} : { graceMs }),
        }),
    )
    await (task.steps.length > 0 ? runSteps(scope, place) : runWhole(scope, place))
  } finally {
    await place.close()
  }
}

async function runWhole(scope: TrialScope, place: OpenTrialEnvironment): Promise<void> {
  const { record, request } = scope
  const { result } = record
  if (!request.config.verifier.disable) result.verifier_environment_mode = request.task.verification.mode
  await runPart(scope, place, {
    part: request.task,
    folder: { path: request.task.path },
    slots: result,
    outputs: record.dir,
    isLast: true,
    fail: (error) => record.fail(error),
    isVerifiedAfterAnyError: false,
  })
}

interface TrialDeadline extends Disposable {
  readonly signal: AbortSignal
  uncounted<T>(wait: () => Promise<T>): Promise<T>
}

// The caller's signal and the time of the whole trial in one. The timer stands still while the trial waits for its turn.
function trialDeadline({ config, signal }: TrialRequest): TrialDeadline {
  const controller = new AbortController()
  const stopListening = onAbort(signal, () =>
    controller.abort(trialError('CancelledError', 'the trial was cancelled', { cause: signal.reason })),
  )
  const limitSec = set(config.trial_timeout_sec)
  let leftMs = limitSec === undefined ? undefined : limitSec * 1000
  let timer: NodeJS.Timeout | undefined
  let since = 0
  const run = () => {
    since = performance.now()
    if (leftMs === undefined) return
    timer = setTimeout(
      () => controller.abort(trialError('TrialTimeoutError', `the trial did not end within ${limitSec} s`)),
      Math.min(leftMs, 2 ** 31 - 1),
    )
  }
  const pause = () => {
    clearTimeout(timer)
    if (leftMs !== undefined) leftMs = Math.max(0, leftMs - (performance.now() - since))
  }
  run()
  return {
    signal: controller.signal,
    async uncounted(wait) {
      pause()
      try {
        return await wait()
      } finally {
        run()
      }
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      stopListening()
    },
  }
}
