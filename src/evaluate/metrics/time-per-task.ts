import { defineMetric } from '../../kernel/index.ts'
import { meanUsage } from './mean-usage.ts'

/** Seconds that an attempt takes. */
export const timePerTask = defineMetric({
  kind: 'time_per_task',
  summary: 'Mean seconds per attempt at a task.',
  direction: 'min',
  compute: (_rewards, { usage }) => meanUsage(usage, ({ latencyS }) => latencyS),
})
