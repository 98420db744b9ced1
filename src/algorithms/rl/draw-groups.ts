// Groups of answers: the same weights attempt each task several times, with draws of their own. Nothing here judges or trains.
import type { HarborTask, PluginSpec, Rollout, SamplerRef, Trajectory } from '../../contracts/index.ts'
import { mapConcurrent } from '../../kernel/index.ts'
import type { RlParams } from './rl-params.ts'

/** A step whose answers are drawn: this one, or one that is yet to come. */
export interface DrawnStep {
  readonly batchIndex: number
  readonly rollout: Rollout
  readonly signal: AbortSignal
}

/** `version`: optimiser steps that the weights had seen. */
export interface DrawnPolicy {
  readonly weights: SamplerRef
  readonly version: number
}

export interface Group {
  readonly task: HarborTask
  /** Place of the group within its batch. */
  readonly at: number
  readonly answers: readonly Trajectory[]
}

export interface DrawOptions {
  readonly params: RlParams
  readonly policy: DrawnPolicy
  /** The agent of the run; absent: one chat. */
  readonly agent: PluginSpec | undefined
}

/** One group for each task, numbered from `first`. */
export async function drawGroups(
  { batchIndex, rollout, signal }: DrawnStep,
  tasks: readonly HarborTask[],
  { params, policy, agent }: DrawOptions,
  first = 0,
): Promise<Group[]> {
  const { num_samples, max_tokens: maxTokens, temperature, n_concurrent } = params
  const asked = tasks.flatMap((task, i) =>
    Array.from({ length: num_samples }, (_, sample) => ({ task, at: first + i, sample })),
  )
  const drawn = await mapConcurrent(asked, { limit: n_concurrent, signal }, ({ task, at, sample }) =>
    rollout(
      {
        ...{ task, sample, policy, agent: agent ?? chatOf(params) },
        seedPath: ['rl', batchIndex, at, task.task_id],
        sampling: { maxTokens, temperature },
      },
      signal,
    ),
  )
  return tasks.map((task, i) => ({
    ...{ task, at: first + i },
    answers: drawn.slice(i * num_samples, (i + 1) * num_samples),
  }))
}

function chatOf({ system_prompt, user_template }: RlParams): PluginSpec {
  return { kind: 'chat', params: { user_template, ...(system_prompt === undefined ? {} : { system_prompt }) } }
}
