import { defineMetric } from '../../kernel/index.ts'
import { fullRewards, meanOf, passes } from './full-rewards.ts'

/** Share of samples that pass. */
export const passRate = defineMetric({
  kind: 'pass_rate',
  summary: 'Share of all samples that pass: reward of 1 or more.',
  direction: 'max',
  // Equal numbers of samples per task make the mean of shares the share of all.
  compute: (rewards) => meanOf(fullRewards(rewards).map((task) => passes(task) / task.length)),
})
