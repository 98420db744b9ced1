// Rollouts of a recipe: one chat turn at a task of the training data, judged by the task's own verifier. The verdict is reached the
// way the scorer reaches it; benchmarks, their answers and their verifiers are not in reach from here.
import * as z from 'zod'
import type { ChatMessage, HarborTask, Rollout, RolloutError, StepScope, Trajectory } from '../../contracts/index.ts'
import { verifyAnswer } from '../../evaluate/index.ts'
import { checkValue, EvsysError, problemsOf, toRecord } from '../../kernel/index.ts'
import { equip } from './run-context.ts'
import type { RunScope } from './run-scope.ts'

export interface Rollouts {
  readonly rollout: Rollout
  /** Tells of the rollouts since the last time, in the order of their tasks and samples. */
  tell(at: StepScope): Promise<void>
}

/** What the agent `chat` takes. */
const Chat = z.strictObject({
  system_prompt: z.string().optional(),
  user_template: z.string().default('{prompt}'),
})

/** Longest that a verifier may take over one answer. */
const VERIFY_MS = 60_000

type Request = Parameters<Rollout>[0]

/** `step`: optimiser steps that the policy has seen. */
export function createRollouts(scope: RunScope, step: number): Rollouts {
  let done: { request: Request; trajectory: Trajectory }[] = []
  return {
    async rollout(request, signal) {
      const trajectory = await attempt(scope, request, step, signal)
      done.push({ request, trajectory })
      return trajectory
    },
    async tell(at) {
      const told = done.sort(inOrder)
      done = []
      for (const { trajectory } of told) {
        const { taskId: task_id, sample, reward, error } = trajectory
        await scope.reporter.tell({
          type: 'rollout.finished',
          ...{ task_id, sample, step: at.step },
          ...(reward === undefined ? {} : { reward }),
          ...(error === undefined ? {} : { error }),
        })
      }
      if (!scope.assignment.log_rollouts || told.length === 0) return
      await scope.callbacks.call('onRollout', at, told.map(rowOf))
    },
  }
}

async function attempt(scope: RunScope, request: Request, step: number, signal: AbortSignal): Promise<Trajectory> {
  const { task, sample } = request
  const began = performance.now()
  const base = { taskId: task.task_id, sample, turns: [] }
  const usage = { promptTokens: 0, completionTokens: 0, latencyS: 0 }
  try {
    const messages = messagesOf(request)
    const { prompt, drawn } = await answer(scope, request, messages)
    const { message } = scope.renderer.parse(drawn.tokens)
    const output = typeof message.content === 'string' ? message.content : ''
    const tokens = { prompt, completion: drawn.tokens, logprobs: drawn.logprobs, policyVersion: step }
    const verdict = await judge(scope, task, output, sample, signal)
    return {
      ...base,
      turns: [{ messages, text: output, stopReason: drawn.stopReason, tokens }],
      output,
      ...verdict,
      ...(drawn.stopReason === 'length' ? { truncated: 'max_tokens' as const } : {}),
      usage: {
        promptTokens: prompt.length,
        completionTokens: drawn.tokens.length,
        latencyS: (performance.now() - began) / 1000,
      },
    }
  } catch (error) {
    signal.throwIfAborted()
    return { ...base, usage, error: failure(error) }
  }
}

async function answer(scope: RunScope, { policy, sampling, seedPath, sample }: Request, messages: ChatMessage[]) {
  if (!('weights' in policy)) {
    throw new EvsysError('PLUGIN_FAILED', 'training answers are drawn from weights, and the rollout names an API model')
  }
  const prompt = scope.renderer.prompt(messages)
  const [drawn] = await scope.model.sample({
    model: policy.weights,
    prompt,
    numSamples: 1,
    ...sampling,
    stop: scope.renderer.stop,
    seed: scope.services.random('rollout', ...seedPath, sample).int(2 ** 32),
  })
  if (drawn === undefined) throw new EvsysError('BACKEND_FAILED', 'the service drew no answer')
  return { prompt, drawn }
}

async function judge({ services }: RunScope, task: HarborTask, output: string, sample: number, signal: AbortSignal) {
  const { verifier } = task
  if (verifier.kind !== 'in_process') {
    throw new EvsysError('DATA_INVALID', `task "${task.task_id}" has a verifier of kind ${verifier.kind}`, {
      fix: 'give it a verifier of kind in_process.',
    })
  }
  const { fn_name, params, expected } = verifier
  const equipped = equip('verifier', { kind: fn_name, params }, services)
  const verified = await verifyAnswer(equipped, { task, output, expected, sample, timeoutMs: VERIFY_MS, signal })
  return 'reward' in verified
    ? { reward: verified.reward }
    : { error: { code: 'PLUGIN_FAILED' as const, message: verified.failure, infra: true } }
}

function messagesOf({ task, agent }: Request): ChatMessage[] {
  const checked = agent.kind === 'chat' ? checkValue(Chat, agent.params) : undefined
  if (checked?.ok !== true) {
    throw new EvsysError(
      'PLUGIN_FAILED',
      `a rollout here is one chat turn; the agent "${agent.kind}" is something else`,
      {
        fix: "name the agent { kind: 'chat', params: { system_prompt, user_template } }.",
      },
    )
  }
  const { system_prompt, user_template } = checked.value
  return [
    ...(system_prompt === undefined ? [] : [{ role: 'system' as const, content: system_prompt }]),
    { role: 'user', content: user_template.split('{prompt}').join(task.instruction) },
  ]
}

function failure(error: unknown): RolloutError {
  const [problem] = problemsOf(error)
  const record = problem === undefined ? new EvsysError('INTERNAL', 'unknown failure').toRecord() : toRecord(problem)
  return { ...record, infra: true }
}

function inOrder(a: { request: Request }, b: { request: Request }): number {
  const [x, y] = [a.request, b.request]
  const byTask = x.task.task_id < y.task.task_id ? -1 : x.task.task_id > y.task.task_id ? 1 : 0
  return byTask || x.sample - y.sample
}

function rowOf({ request, trajectory }: { request: Request; trajectory: Trajectory }) {
  const { taskId: task_id, sample, output, reward, error } = trajectory
  return {
    ...{ task_id, sample, instruction: request.task.instruction },
    ...(output === undefined ? {} : { output }),
    ...(reward === undefined ? {} : { reward }),
    ...(error === undefined ? {} : { error }),
  }
}
