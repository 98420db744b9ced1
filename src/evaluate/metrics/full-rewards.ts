// Rewards in a shape that every metric can count on: each task has as many samples as the one with the most.
import type { TaskRewards } from '../../contracts/index.ts'

/** An answer with at least this reward passes. */
export const passThreshold = 1

/**
 * Rewards with missing samples filled in by 0: a rollout that gave nothing is a failure of its task, and a task without any
 * stays in every denominator. A reward that is no finite number is an error.
 */
export function fullRewards(rewards: TaskRewards, atLeast = 1): TaskRewards {
  const samples = rewards.reduce((most, task) => Math.max(most, task.length), atLeast)
  return rewards.map((task, index) =>
    Array.from({ length: samples }, (_, sample) => {
      const reward = task[sample] ?? 0
      if (!Number.isFinite(reward)) throw new TypeError(`the reward of task ${index}, sample ${sample} is ${reward}`)
      return reward
    }),
  )
}

/** Passing samples of a task. */
export function passes(task: readonly number[]): number {
  return task.filter((reward) => reward >= passThreshold).length
}

/** Mean of numbers; undefined where there are none. */
export function meanOf(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
