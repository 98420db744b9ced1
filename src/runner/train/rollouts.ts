// Rollouts of a recipe: an agent's attempts at tasks of the training data, scored by the verifier of the task, the way the scorer does
// it; benchmarks, their answers and their verifiers are not in reach from here.

import { GuardParams } from '../../algorithms/index.ts'
import {
  agentOf,
  type HarborTask,
  type Metrics,
  type OpenInferenceClient,
  type PluginSpec,
  type Rollout,
  type RolloutError,
  type StepScope,
  type Trajectory,
  type Weights,
} from '../../contracts/index.ts'
import { verifyAnswer } from '../../evaluate/index.ts'
import { EvsysError, errorRecord, onAbort } from '../../kernel/index.ts'
import { type AgentOutcome, createTokenPolicy, folderOfRow, runAgent } from '../../rollout/index.ts'
import { rollOutFolder } from './roll-out-folder.ts'
import { equip, type RunServices } from './run-context.ts'
import type { RunScope } from './run-scope.ts'

// The second opinion on rollouts: a verifier that the reward does not use scores the same answers. What it says is never trained on.

/** Longest that it may take over one answer. */
const VERIFY_MS = 60_000

export interface HeldOut {
  /** Undefined where there is nothing to score or no verdict: that one counts for nothing. */
  score(task: HarborTask, trajectory: Trajectory, signal: AbortSignal): Promise<number | undefined>
}

/** The held-out verifier that the params of a recipe name; undefined: they name none. */
export function createHeldOut(services: RunServices, params: unknown): HeldOut | undefined {
  const spec = GuardParams.safeParse(params).data?.held_out_verifier
  if (spec === undefined) return undefined
  const equipped = equip('verifier', spec, services)
  return {
    async score(task, { sample, output, reward }, signal) {
      if (reward === undefined) return undefined
      const expected = task.verifier.kind === 'in_process' ? task.verifier.expected : undefined
      const { openSandbox } = services
      const answer = { task, output: output ?? '', expected, sample, timeoutMs: VERIFY_MS, openSandbox }
      const verified = await verifyAnswer(equipped, { ...answer, signal })
      if ('reward' in verified) return verified.reward
      services.log('warn', `held-out verifier, task "${task.task_id}": ${verified.failure}`)
      return undefined
    },
  }
}

/** `scores`: in the order of tasks and samples, so that sums do not depend on which was faster. */
function heldOutMetrics(scores: readonly (number | undefined)[]): Metrics {
  const known = scores.flatMap((score) => score ?? [])
  if (known.length === 0) return {}
  return { 'heldout/mean': known.reduce((sum, score) => sum + score, 0) / known.length }
}

export type Rollouts = ReturnType<typeof createRollouts>

/** Longest that an attempt may take by default: one that never ends must not hold a step for ever. */
const AGENT_MS = 3_600_000

type Request = Parameters<Rollout>[0]
type LocalPolicy = Extract<Request['policy'], { weights: Weights }>

/** `versionOf`: optimiser steps that the weights of a request have seen. */
export function createRollouts(scope: RunScope, versionOf: (policy: LocalPolicy) => number, heldOut?: HeldOut) {
  const ending = new AbortController()
  const ended: AbortSignal = ending.signal
  const underWay = new Set<Promise<void>>()
  let done: Done[] = []
  let wasCut = false
  const stopListening = onAbort(scope.services.signal, () => ending.abort(scope.services.signal.reason))
  const make = async (request: Request, asked: AbortSignal): Promise<Trajectory> => {
    const own = new AbortController()
    const stops = [asked, ending.signal].map((each) => onAbort(each, () => own.abort(each.reason)))
    try {
      own.signal.throwIfAborted()
      const trajectory = await attempt(scope, { request, versionOf }, own.signal)
      const second = await heldOut?.score(request.task, trajectory, own.signal)
      done.push({ request, trajectory, heldOut: second })
      return trajectory
    } catch (error) {
      wasCut ||= ending.signal.aborted
      throw error
    } finally {
      for (const stop of stops) stop()
    }
  }
  return {
    /** Aborted when they end, and with the run. */
    signal: ended,
    /** Some were cut off, or refused because they came too late. */
    get wasCut() {
      return wasCut
    },
    rollout(request: Request, signal: AbortSignal): Promise<Trajectory> {
      const made = make(request, signal)
      const settled = made.then(
        () => {},
        () => {}, // thrown to the caller
      )
      underWay.add(settled)
      void settled.then(() => underWay.delete(settled))
      return made
    },
    /** What the held-out verifier says of the rollouts since they were last reported. */
    metrics: () => heldOutMetrics(done.sort(inOrder).map((each) => each.heldOut)),
    /** Reports the rollouts since the last time, in the order of their tasks and samples. */
    async report(at: StepScope) {
      const reported = done.sort(inOrder)
      done = []
      for (const { trajectory } of reported) {
        const { taskId: task_id, sample, reward, error } = trajectory
        await scope.reporter.report({ type: 'rollout.finished', task_id, sample, step: at.step, reward, error })
      }
      if (!scope.assignment.log_rollouts || reported.length === 0) return
      await scope.callbacks.call('onRollout', at, reported.map(rowOf))
    },
    /** Cuts off those that are under way and waits for them. None begins any more. */
    async end() {
      ending.abort(stepIsOver)
      stopListening()
      await Promise.all(underWay) // all are aborted, and none comes after them
    },
  }
}

// Made once: every step ends with it, and an error takes its stack along.
const stepIsOver = new EvsysError('INTERRUPTED', 'the step of these rollouts is over, or is done again')

interface Done {
  readonly request: Request
  readonly trajectory: Trajectory
  readonly heldOut: number | undefined
}

interface Attempt {
  readonly request: Request
  versionOf(policy: LocalPolicy): number
}

async function attempt(scope: RunScope, at: Attempt, signal: AbortSignal): Promise<Trajectory> {
  const { task, sample } = at.request
  const folder = folderOfRow(task)
  if (folder !== undefined) return attemptInFolder(scope, { ...at, folder }, signal)
  const { turns, output, turnRewards, truncated, usage, error } = await runOn(scope, at, signal)
  signal.throwIfAborted()
  const trajectory = { taskId: task.task_id, sample, turns, usage, output, turnRewards, truncated }
  // What an agent left when its time was up is judged; what it left when it failed is not its answer.
  if (error !== undefined) return { ...trajectory, error }
  try {
    return { ...trajectory, ...(await verify(scope, task, output ?? '', sample, signal)) }
  } catch (fault) {
    signal.throwIfAborted()
    return { ...trajectory, error: failure(fault) }
  }
}

async function attemptInFolder(
  scope: RunScope,
  { folder, ...at }: Attempt & { folder: { path: string; digest: string } },
  signal: AbortSignal,
): Promise<Trajectory> {
  const { request } = at
  const { task, sample } = request
  const policy = () => policyOf(scope, at)
  try {
    return await rollOutFolder(scope, { request, folder, agent: agentFor(scope, request), policy }, signal)
  } catch (fault) {
    signal.throwIfAborted()
    const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }
    return { taskId: task.task_id, sample, turns: [], usage, error: failure(fault) }
  }
}

function agentFor(scope: RunScope, { agent }: Request): PluginSpec {
  return agent ?? agentOf(scope.assignment.config) ?? { kind: 'chat', params: {} }
}

async function runOn(scope: RunScope, at: Attempt, signal: AbortSignal): Promise<AgentOutcome> {
  const { request } = at
  const { task, sampling, seedPath, sample, timeoutMs = AGENT_MS } = request
  const { registry, log, secret, random } = scope.services
  const outcome = await runAgent({
    agent: agentFor(scope, request),
    task,
    sampling,
    timeoutMs,
    signal,
    policy: policyOf(scope, at),
    services: { registry, log, secret, random: (...path) => random('rollout', ...seedPath, sample, ...path) },
  })
  if (outcome.ended !== 'timeout' || outcome.output === undefined) return outcome
  const { error: _, ...rest } = outcome
  return rest
}

// The agent under training gets the weights of its step and nothing else: whatever it asks is answered by them, token by token.
function policyOf(scope: RunScope, { request: { policy }, versionOf }: Attempt): OpenInferenceClient {
  if (!('weights' in policy)) {
    const refuse = () =>
      new EvsysError('PLUGIN_FAILED', 'training answers are drawn from weights, and the rollout names an API model')
    return { generate: () => Promise.reject(refuse()) }
  }
  return createTokenPolicy({
    renderer: scope.renderer,
    sample: (drawn, signal) => scope.model.sample({ ...drawn, model: policy.weights }, signal),
    version: () => versionOf(policy),
    maxContext: scope.model.backend.maxContext,
  })
}

async function verify({ services }: RunScope, task: HarborTask, output: string, sample: number, signal: AbortSignal) {
  const { verifier } = task
  if (verifier.kind !== 'in_process') {
    throw new EvsysError('DATA_INVALID', `task "${task.task_id}" has a verifier of kind ${verifier.kind}`, {
      fix: 'give it a verifier of kind in_process.',
    })
  }
  const { fn_name, params, expected } = verifier
  const equipped = equip('verifier', { kind: fn_name, params }, services)
  const { openSandbox } = services
  const answer = { task, output, expected, sample, timeoutMs: VERIFY_MS, openSandbox }
  const verified = await verifyAnswer(equipped, { ...answer, signal })
  return 'reward' in verified
    ? { reward: verified.reward }
    : { error: { code: 'PLUGIN_FAILED' as const, message: verified.failure, infra: true } }
}

function failure(error: unknown): RolloutError {
  return { ...errorRecord(error), infra: true }
}

// A task may be attempted twice under one number; then its draws tell the attempts apart, never who was first.
function inOrder(a: Done, b: Done): number {
  const [x, y] = [a.request, b.request]
  return (
    byText(x.task.task_id, y.task.task_id) || x.sample - y.sample || byText(x.seedPath.join(' '), y.seedPath.join(' '))
  )
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function rowOf({ request, trajectory, heldOut }: Done) {
  const { taskId: task_id, sample, turns, output, reward, error, failedAttempts } = trajectory
  return {
    task_id,
    sample,
    instruction: request.task.instruction,
    turns: turns.length < 2 ? undefined : turns.map(({ text, stopReason }) => ({ text, stop_reason: stopReason })),
    output,
    reward,
    held_out: heldOut,
    error,
    failed_attempts: failedAttempts,
  }
}
