import type { TaskRewards } from '../../contracts/index.ts'
import { defineMetric } from '../../kernel/index.ts'
import { fullRewards, meanOf } from './full-rewards.ts'

/** Mean over tasks of each task's mean reward. */
export const meanReward = defineMetric({
  kind: 'mean_reward',
  summary: 'Mean over tasks of the mean reward of each task’s samples.',
  direction: 'max',
  compute: (rewards) => macroMean(rewards),
})

/** The mean in which every task weighs the same. */
export function macroMean(rewards: TaskRewards): number | undefined {
  return meanOf(fullRewards(rewards).map((task) => meanOf(task) ?? 0))
}
