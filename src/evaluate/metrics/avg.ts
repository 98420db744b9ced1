import { defineMetric } from '../../kernel/index.ts'
import { macroMean } from './mean-reward.ts'

/** Another name of `mean_reward`. */
export const avg = defineMetric({
  kind: 'avg',
  summary: 'Short name of mean_reward.',
  direction: 'max',
  compute: (rewards) => macroMean(rewards),
})
