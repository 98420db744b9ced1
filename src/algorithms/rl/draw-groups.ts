// Groups of answers: the same weights attempt each task several times, with draws of their own. Nothing here judges or trains.
import type { HarborTask, PluginSpec, Rollout, SamplerRef, Trajectory } from '../../contracts/index.ts'
import { mapConcurrent } from '../../kernel/index.ts'
import { verifiedReward } from './answer-reward.ts'
import type { Lanes } from './lanes.ts'
import type { RlParams } from './rl-params.ts'

/** A step whose answers are drawn: this one, or one that is yet to come. */
export interface DrawnStep {
  readonly batchIndex: number
  readonly rollout: Rollout
  readonly signal: AbortSignal
}

export interface Group {
  readonly task: HarborTask
  readonly answers: readonly Trajectory[]
  /** Attempts that infrastructure ended and that were made again. */
  readonly retried: number
}

export interface DrawOptions {
  readonly params: RlParams
  /** `version`: optimiser steps that the weights had seen. */
  readonly policy: { readonly weights: SamplerRef; readonly version: number }
  /** The agent of the run; absent: one chat. */
  readonly agent: PluginSpec | undefined
  readonly lanes: Lanes
}

/** One group for each task. `first`: number of the first of them among the groups of its batch. */
export async function drawGroups(
  step: DrawnStep,
  tasks: readonly HarborTask[],
  options: DrawOptions,
  first = 0,
): Promise<Group[]> {
  const { num_samples } = options.params
  const asked = tasks.flatMap((task, i) =>
    Array.from({ length: num_samples }, (_, sample) => ({ task, at: first + i, sample })),
  )
  const limits = { limit: options.lanes.limit, signal: step.signal }
  const drawn = await mapConcurrent(asked, limits, (each, _, signal) =>
    options.lanes.run(step.batchIndex, () => drawAnswer({ ...step, signal }, each, options)),
  )
  return tasks.map((task, i) => {
    const own = drawn.slice(i * num_samples, (i + 1) * num_samples)
    return { task, answers: own.map(({ answer }) => answer), retried: own.reduce((sum, each) => sum + each.retried, 0) }
  })
}

type Asked = { readonly task: HarborTask; readonly at: number; readonly sample: number }

async function drawAnswer(
  { batchIndex, rollout, signal }: DrawnStep,
  { task, at, sample }: Asked,
  { params, policy, agent = chatOf(params) }: DrawOptions,
): Promise<{ answer: Trajectory; retried: number }> {
  const { max_tokens: maxTokens, temperature, max_retries, rollout_timeout_s } = params
  const limits = {
    sampling: { maxTokens, temperature },
    ...(rollout_timeout_s === undefined ? {} : { timeoutMs: 1000 * rollout_timeout_s }),
  }
  for (let retried = 0; ; retried++) {
    const seedPath = ['rl', batchIndex, at, task.task_id, ...(retried === 0 ? [] : ['retry', retried])]
    const answer = await rollout({ task, sample, policy, agent, seedPath, ...limits }, signal)
    if (verifiedReward(answer) !== undefined || retried >= max_retries) return { answer, retried }
  }
}

function chatOf({ system_prompt, user_template }: RlParams): PluginSpec {
  return { kind: 'chat', params: { user_template, ...(system_prompt === undefined ? {} : { system_prompt }) } }
}
