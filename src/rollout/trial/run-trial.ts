// One attempt of one agent at one task folder: environment, agent, artifacts, verification, record. It owns every deadline and closes
// whatever it opened; agents and verifiers only get a signal. Whatever goes wrong is part of the result.
import { mkdir } from 'node:fs/promises'
import type { Turn } from '../../contracts/index.ts'
import { createRedactor, EvsysError, messageOf, onAbort, systemClock } from '../../kernel/index.ts'
import { type LoadedTask, resolveEnvTable, type TaskPart, taskRow } from '../task/index.ts'
import { phaseLimits, set, withDeadline } from './deadlines.ts'
import { scalarReward } from './rewards.ts'
import { runPart } from './run-part.ts'
import { runSteps } from './run-steps.ts'
import { type OpenTrialEnvironment, openTrialEnvironment, removeTree } from './trial-environment.ts'
import { trialError } from './trial-error.ts'
import { openTrialRecord, trialSecrets } from './trial-record.ts'
import { stateFolder, type TrialOutcome, type TrialRequest, type TrialScope } from './trial-scope.ts'

/** Runs a trial to its result.json. Rejects only when the record itself cannot be written. */
export async function runTrial(request: TrialRequest): Promise<TrialOutcome> {
  const { task, config, hostEnv, clock = systemClock, onEvent } = request
  const { agent, environment, verifier } = config
  const tables = [task.config.environment.env, task.config.solution.env, agent.env, environment.env, verifier.env]
  const parts = [task, ...task.steps].map(({ verification }) => verification.env)
  const secrets = { ...trialSecrets([...tables, ...parts], hostEnv), ...request.secrets }
  const record = await openTrialRecord({
    task,
    config,
    trialId: request.trialId,
    dir: request.dir,
    agentInfo: request.agentInfo,
    clock,
    redact: createRedactor(secrets),
    isHiding: Object.keys(secrets).length > 0,
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
  return { result, turns, reward }
}

async function attempt(scope: TrialScope): Promise<void> {
  const { request, record, signal } = scope
  const { task, config, graceMs } = request
  const limits = phaseLimits(config, task, task)
  const agent = request.agentInfo.name
  refuseUnsupported(task, agent)
  for (const warning of unofferedWarnings(task, agent)) await record.warn(warning)
  await mkdir(stateFolder(request.dir), { recursive: true })
  const place = await record.timed(record.result, 'environment_setup', () => {
    request.onEvent?.('environment-start')
    return openTrialEnvironment(scope, { path: task.path }, limits.environmentMs)
  })
  try {
    record.setLevel(place.environment.level)
    const { agentSetupMs: timeoutMs } = limits
    const late = `the agent was not set up within ${timeoutMs / 1000} s`
    const timeout = () => trialError('AgentSetupTimeoutError', late)
    await record.timed(record.result, 'agent_setup', () =>
      withDeadline(async (during) => request.setupAgent?.(place.environment, during), {
        timeoutMs,
        timeout,
        signal,
        graceMs,
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

// The caller's signal and the time of the whole trial in one. The timer stands still while the trial waits for its turn.
function trialDeadline({ config, signal }: TrialRequest) {
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
    async uncounted<T>(wait: () => Promise<T>): Promise<T> {
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

// What a task folder may ask for that no trial here does. It is refused before anything starts, with its reason: an agent that never got
// what its task promises would be scored for something else.

/** Agents that follow a script, not the instruction of a task. */
const scriptedAgents: readonly string[] = ['oracle', 'nop']

export function refuseUnsupported(task: LoadedTask, agent: string): void {
  const parts: readonly TaskPart[] = [task, ...task.steps]
  const services = new Set(parts.flatMap(servicesOf))
  if (services.size > 0) {
    const message = `the task collects from the services ${[...services].join(', ')}, and only the service "main" is reached`
    throw trialError('ServiceOperationsUnsupportedError', message)
  }
  if (scriptedAgents.includes(agent)) return
  if (parts.some(({ trajectoryPath }) => trajectoryPath !== undefined)) {
    throw refused(
      `it comes with earlier turns (trajectory.json), and the agent "${agent}" cannot continue from them`,
      'take the file out to attempt it from the start; the agents oracle and nop do without it.',
    )
  }
  const { skills_dir } = task.config.environment
  if (skills_dir !== undefined) {
    throw refused(
      `it brings skills (skills_dir: ${skills_dir}), and the agent "${agent}" is given none`,
      'take skills_dir out of task.toml, and say in the instruction where they lie.',
    )
  }
}

/** What the agent is not given, without being refused for it. */
export function unofferedWarnings(task: LoadedTask, agent: string): string[] {
  const names = task.config.environment.mcp_servers.map(({ name }) => name)
  if (names.length === 0 || scriptedAgents.includes(agent)) return []
  return [
    `MCP servers of the task are not offered to the agent by themselves (mcp_servers of its params): ${names.join(', ')}`,
  ]
}

function servicesOf({ artifacts, verification }: TaskPart): string[] {
  const named = [...artifacts.map(({ service }) => service), ...verification.collect.map(({ service }) => service)]
  return named.flatMap((service) => (service === undefined || service === 'main' ? [] : [service]))
}

function refused(what: string, fix: string): EvsysError {
  return new EvsysError('ENVIRONMENT_REFUSED', `the task cannot be attempted here: ${what}`, { fix })
}
