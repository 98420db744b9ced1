// What is done for one instruction, be it the whole task or one step: the agent acts, its files are fetched, the tests score it.
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { HarborTask, TaskFolder, Turn } from '../../contracts/index.ts'
import { messageOf } from '../../kernel/index.ts'
import { trajectoryOf, writeTrajectory } from '../atif/trajectory-of.ts'
import { collectArtifacts, shellCommand } from '../environments/index.ts'
import type { TaskPart } from '../task/index.ts'
import { agentFailure, verifierFailure } from './attribute-failure.ts'
import { phaseLimits } from './deadlines.ts'
import { runAgentPhase } from './run-agent-phase.ts'
import { fetchFolder, type OpenTrialEnvironment } from './trial-environment.ts'
import { isVerifiedAfter, trialError } from './trial-error.ts'
import type { StepResult, VerifierResult } from './trial-result.ts'
import type { TrialScope } from './trial-scope.ts'
import { networkOf, partTests, runSeparateVerifier, type Verified, verifyPart } from './verify-part.ts'

interface PartRun {
  readonly part: TaskPart
  readonly folder: TaskFolder
  /** Where results and timings go. */
  readonly slots: Pick<StepResult, 'agent_result' | 'verifier_result' | 'agent_execution' | 'verifier'>
  /** Folder that gets agent/, verifier/ and artifacts/. */
  readonly outputs: string
  /** Nothing runs in this environment after it. */
  readonly isLast: boolean
  fail(error: unknown): Promise<void>
  readonly isVerifiedAfterAnyError: boolean
}

/** Never rejects for what the agent or the verifier did. */
export async function runPart(scope: TrialScope, place: OpenTrialEnvironment, run: PartRun): Promise<void> {
  const { request, record, signal } = scope
  const error = await runAgentOfPart(scope, place, run)
  if (error !== undefined) await run.fail(await agentFailure(scope, place, run, error))
  const manifest = await collect(scope, place, run)
  if (signal.aborted || request.config.verifier.disable) return
  if (error !== undefined && !run.isVerifiedAfterAnyError && !isVerifiedAfter(error)) return
  request.onEvent?.('verification-start')
  try {
    const verify = () => verified(scope, place, run, manifest)
    const { rewards, warnings } = await record.timed(run.slots, 'verifier', verify)
    run.slots.verifier_result = { rewards } satisfies VerifierResult
    for (const warning of warnings) await record.warn(warning)
  } catch (failure) {
    await run.fail(await verifierFailure(scope, run, failure))
  }
}

async function runAgentOfPart(scope: TrialScope, place: OpenTrialEnvironment, run: PartRun): Promise<unknown> {
  const { request, record, signal, agentEnv, turns } = scope
  const { part, folder, slots, outputs } = run
  const { agentMs } = phaseLimits(request.config, request.task, part)
  const task: HarborTask = { ...scope.row, instruction: part.instruction }
  try {
    using _turn = await scope.uncounted(async () => request.agentTurn?.(signal) ?? { [Symbol.dispose]() {} })
    request.onEvent?.('agent-start')
    const network = networkOf(part.agentNetwork, request.task.network)
    const end = await record.timed(slots, 'agent_execution', () =>
      runAgentPhase({
        task,
        folder,
        environment: place.environment,
        logsDir: join(outputs, 'agent'),
        runAgent: request.runAgent,
        lease: { env: agentEnv, user: part.agent.user, network },
        timeoutMs: agentMs,
        signal,
        graceMs: request.graceMs,
      }),
    )
    request.onEvent?.('agent-end')
    slots.agent_result = end.result
    turns.push(...end.turns)
    const { evsys } = record.result
    const truncated = end.truncated ?? evsys?.truncated
    record.result.evsys = { status: 'completed', warnings: [], ...evsys, n_turns: turns.length, truncated }
    await keepTrajectory(scope, end.turns, join(outputs, 'agent'))
    return end.error
  } catch (error) {
    return error
  }
}

/** What the agent said and saw, for other programs. An agent that keeps its own trajectory knows better. */
async function keepTrajectory({ request, record }: TrialScope, turns: readonly Turn[], dir: string): Promise<void> {
  const file = join(dir, 'trajectory.json')
  const { name, version, model_info } = request.agentInfo
  if (turns.length === 0 || (await lstat(file).catch(() => undefined)) !== undefined) return
  try {
    const agent = { name, version, model: model_info?.name }
    await writeTrajectory(file, trajectoryOf({ agent, turns, sessionId: request.trialId }))
  } catch (cause) {
    await record.warn(`the trajectory could not be kept: ${messageOf(cause)}`)
  }
}

/** Files of the agent's phase come home whatever happened in it; that this fails is a warning. */
async function collect(scope: TrialScope, { environment }: OpenTrialEnvironment, run: PartRun) {
  const { record, request } = scope
  const signal = AbortSignal.timeout(COLLECT_MS) // a cancelled trial keeps what was reached
  try {
    const { leftOut } = await fetchFolder(environment, '/logs/agent', join(run.outputs, 'agent'))
    if (leftOut.length > 0) await record.warn(`not kept of /logs/agent: ${leftOut.slice(0, 10).join(', ')}`)
  } catch (cause) {
    await record.warn(`/logs/agent could not be fetched: ${messageOf(cause)}`)
  }
  for (const hook of run.part.verification.collect.filter(({ service }) => service === 'main')) {
    const ended = await environment
      .exec(
        { argv: shellCommand(hook.command), limits: { timeoutMs: hook.timeout_sec * 1000 }, user: hook.user },
        signal,
      )
      .catch((cause: unknown) => ({ exitCode: null, stderr: messageOf(cause) }))
    if (ended.exitCode !== 0) await record.warn(`collect hook failed: ${ended.stderr.slice(0, 500)}`)
  }
  const entries = [
    ...request.task.artifacts,
    ...request.config.artifacts,
    ...(run.part === request.task ? [] : run.part.artifacts),
  ]
  const collected = collectArtifacts({ environment, entries, target: join(run.outputs, 'artifacts'), signal })
  return collected.catch(async (cause: unknown) => {
    await record.warn(`artifacts could not be fetched: ${messageOf(cause)}`)
    return []
  })
}

/** What is fetched after the agent's phase has this long. */
const COLLECT_MS = 120_000

async function verified(
  scope: TrialScope,
  place: OpenTrialEnvironment,
  run: PartRun,
  manifest: Awaited<ReturnType<typeof collect>>,
): Promise<Verified> {
  const { part, outputs } = run
  const { verification } = part
  const { testDirs, network, ...common } = partTests(scope, run)
  if (verification.mode === 'separate') {
    if (run.isLast) await place.close()
    return runSeparateVerifier(scope, {
      folder: run.folder,
      verification,
      manifest,
      artifactsDir: join(outputs, 'artifacts'),
      workdir: place.environment.workdir,
      verify: common,
    })
  }
  if (testDirs.length === 0) throw trialError('AddTestsDirError', 'the task has no tests')
  return verifyPart({ ...common, testDirs, network, environment: place.environment })
}
