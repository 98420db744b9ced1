// A task of several steps: one environment whose files stay, one instruction after the other, each verified by itself.
import { join } from 'node:path'
import { EvsysError } from '../../kernel/index.ts'
import { runHealthcheck, shellCommand } from '../environments/index.ts'
import type { LoadedStep } from '../task/index.ts'
import { combineSteps, meetsGate } from './rewards.ts'
import { runPart } from './run-part.ts'
import type { OpenTrialEnvironment } from './trial-environment.ts'
import { trialError } from './trial-error.ts'
import type { StepResult } from './trial-result.ts'
import type { TrialScope } from './trial-scope.ts'

/** How long `setup.sh` of a step may take; Harbor bounds it by the time of the agent's setup. */
const SETUP_MS = 360_000

export async function runSteps(scope: TrialScope, place: OpenTrialEnvironment): Promise<void> {
  const { request, record, signal } = scope
  const { steps, config } = request.task
  const results: StepResult[] = []
  record.result.step_results = results
  for (const [index, step] of steps.entries()) {
    const slots: StepResult = {
      step_name: step.name,
      agent_result: null,
      verifier_result: null,
      exception_info: null,
      agent_execution: null,
      verifier: null,
    }
    results.push(slots)
    const fail = async (error: unknown) => {
      await record.log(`step ${step.name}: ${error instanceof Error ? error.message : String(error)}`)
      slots.exception_info ??= record.exceptionOf(error)
    }
    await runStep(scope, place, step, slots, { isLast: index === steps.length - 1, fail })
    // The end of the whole trial is reported by the trial, not by the step it fell into.
    if (signal.aborted) throw signal.reason
    if (slots.exception_info !== null && slots.verifier_result === null) break
    if (!request.config.verifier.disable && !meetsGate(step.minReward, slots.verifier_result?.rewards)) {
      await record.log(`step ${step.name} did not reach its min_reward: no further step runs`)
      break
    }
  }
  const rewards = combineSteps(results, config.multi_step_reward_strategy)
  if (rewards !== undefined) record.result.verifier_result = { rewards }
}

async function runStep(
  scope: TrialScope,
  place: OpenTrialEnvironment,
  step: LoadedStep,
  slots: StepResult,
  { isLast, fail }: { isLast: boolean; fail(error: unknown): Promise<void> },
): Promise<void> {
  const { request, record } = scope
  try {
    await prepare(scope, place, step)
  } catch (error) {
    await fail(error)
    return
  }
  await runPart(scope, place, {
    part: step,
    folder: { path: request.task.path, step: step.name },
    slots,
    isLast,
    fail,
    outputs: join(record.dir, 'steps', step.name),
    isVerifiedAfterAnyError: true,
  })
}

// Nothing of the step before is left where this one writes its logs, and its tests are gone before the agent looks around.
async function prepare({ signal }: TrialScope, { environment }: OpenTrialEnvironment, step: LoadedStep): Promise<void> {
  await environment.killAll()
  for (const path of ['/tests', '/solution', '/logs/verifier', '/logs/agent', '/logs/artifacts'])
    await environment.empty(path)
  if (step.workdirDir !== undefined) {
    const { user } = step.agent
    const cwd = await workingFolder(environment, signal)
    await environment.upload(step.workdirDir, cwd)
    if (step.setupScript !== undefined) {
      const ended = await environment.exec(
        { argv: ['bash', `${cwd === '/' ? '' : cwd}/setup.sh`], cwd, limits: { timeoutMs: SETUP_MS }, user },
        signal,
      )
      if (ended.exitCode !== 0) {
        const message = `setup.sh of step ${step.name} ended with ${ended.exitCode ?? ended.signal}: ${ended.stderr.slice(0, 500)}`
        throw trialError('StepSetupError', message)
      }
    }
  }
  if (step.healthcheck !== undefined) await runHealthcheck(environment, step.healthcheck, signal)
}

async function workingFolder(environment: OpenTrialEnvironment['environment'], signal: AbortSignal): Promise<string> {
  const { stdout, exitCode } = await environment.exec({ argv: shellCommand('pwd') }, signal)
  const cwd = stdout.trim()
  if (exitCode === 0 && cwd.startsWith('/')) return cwd
  throw new EvsysError('ENVIRONMENT_FAILED', 'the working directory of the environment could not be found')
}
