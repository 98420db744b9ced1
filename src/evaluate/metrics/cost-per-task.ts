import { defineMetric } from '../../kernel/index.ts'
import { meanUsage } from './mean-usage.ts'

/** Money that an attempt takes. */
export const costPerTask = defineMetric({
  kind: 'cost_per_task',
  summary: 'Mean US dollars per attempt at a task; absent where the model reports no cost.',
  direction: 'min',
  compute: (_rewards, { usage }) => meanUsage(usage, ({ costUsd }) => costUsd),
})
