import { defineMetric } from '../../kernel/index.ts'
import { meanUsage } from './mean-usage.ts'

/** Tokens that an attempt takes. */
export const tokensPerTask = defineMetric({
  kind: 'tokens_per_task',
  summary: 'Mean tokens per attempt at a task, prompt and completion together.',
  direction: 'min',
  compute: (_rewards, { usage }) =>
    meanUsage(usage, ({ promptTokens, completionTokens }) => promptTokens + completionTokens),
})
