// Whose fault it is that a part of a trial could not be scored. An agent could wreck its environment, or leave there what no test
// survives, and so be spared a 0 as if the machine had failed. So a failure that shows only in what the agent left, and not in a
// fresh environment right after it, is the agent's. What fails in the fresh one too, or does not show any more, stays a fault of the
// machine or the tests.
import { join } from 'node:path'
import type { OpenEnvironment, TaskFolder } from '../../contracts/index.ts'
import { EvsysError, messageOf } from '../../kernel/index.ts'
import { shellCommand } from '../environments/index.ts'
import type { TaskPart } from '../task/index.ts'
import { phaseLimits, withDeadline } from './deadlines.ts'
import { type OpenTrialEnvironment, openTrialEnvironment } from './trial-environment.ts'
import { exceptionName, trialError } from './trial-error.ts'
import { stateFolder, type TrialScope } from './trial-scope.ts'
import { partTests, verifyPart } from './verify-part.ts'

/** What failed: the task, or one of its steps. */
interface FailedPart {
  readonly part: TaskPart
  readonly folder: TaskFolder
  /** Folder of its results. */
  readonly outputs: string
}

/** The failure of an agent’s phase; its own, where the agent brought its environment down. */
export async function agentFailure(
  scope: TrialScope,
  { environment }: OpenTrialEnvironment,
  { folder, part }: FailedPart,
  failure: unknown,
): Promise<unknown> {
  const { request, signal } = scope
  if (signal.aborted || !isEnvironmentFailure(failure) || (await isResponsive(environment, signal))) return failure
  const { environmentMs: openMs } = phaseLimits(request.config, request.task, part)
  return attributeFailure(scope, { folder, failure, openMs, control: (fresh) => assertResponsive(fresh, signal) })
}

/** The failure of a verification; the agent’s, where the same tests come to a verdict in a fresh environment. */
export async function verifierFailure(scope: TrialScope, run: FailedPart, failure: unknown): Promise<unknown> {
  const { request, signal } = scope
  const { part, folder } = run
  if (signal.aborted || part.verification.mode === 'separate') return failure
  const { environmentMs: openMs } = phaseLimits(request.config, request.task, part)
  const target = join(stateFolder(request.dir), 'control-logs')
  return attributeFailure(scope, {
    folder,
    failure,
    openMs,
    control: (environment) => verifyPart({ ...partTests(scope, run), environment, target }),
  })
}

/** How long an environment has to show that it is alive. */
const ANSWER_MS = 30_000

interface FailedControl {
  readonly folder: TaskFolder
  readonly failure: unknown
  /** Longest that the fresh environment may take to open. */
  readonly openMs: number
  /** Does in the fresh environment what failed in that of the agent. Rejecting: it is no fault of the agent. */
  control(environment: OpenEnvironment): Promise<unknown>
}

/** The failure as it is recorded: of the agent, where only what it left fails. */
async function attributeFailure(
  scope: TrialScope,
  { folder, failure, openMs, control }: FailedControl,
): Promise<unknown> {
  const { signal, record } = scope
  try {
    const place = await openTrialEnvironment(scope, folder, openMs, 'control')
    try {
      await control(place.environment)
    } finally {
      await place.close()
    }
  } catch (cause) {
    signal.throwIfAborted()
    await record.log(`a fresh environment fails too: ${messageOf(cause)}`)
    return failure
  }
  const message = `${exceptionName(failure)}: ${messageOf(failure)}; a fresh environment has no such failure, so what the agent left is its cause`
  return trialError('EnvironmentWreckedError', message, { cause: failure })
}

/** Whether an environment still runs commands. Nothing of the agent is alive in it. */
async function isResponsive(environment: OpenEnvironment, signal: AbortSignal): Promise<boolean> {
  const limits = { timeoutMs: ANSWER_MS }
  try {
    const { exitCode } = await withDeadline(
      (during) => environment.exec({ argv: shellCommand('true'), cwd: '/', limits }, during),
      { timeoutMs: ANSWER_MS, timeout: () => new Error('it does not answer'), signal },
    )
    return exitCode === 0
  } catch {
    signal.throwIfAborted()
    return false
  }
}

/** Whether a failure is one of the environment, as far as it shows. */
function isEnvironmentFailure(failure: unknown): boolean {
  const code: unknown = typeof failure === 'object' && failure !== null ? Reflect.get(failure, 'code') : undefined
  return code === 'ENVIRONMENT_FAILED' || code === 'SANDBOX_FAILED'
}

/** The control of an agent whose environment stopped answering while it acted. */
async function assertResponsive(environment: OpenEnvironment, signal: AbortSignal): Promise<void> {
  if (!(await isResponsive(environment, signal))) throw new EvsysError('ENVIRONMENT_FAILED', 'it does not answer')
}
