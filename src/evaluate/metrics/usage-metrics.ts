// Metrics over what answers cost, in time, tokens or money.
import * as z from 'zod'
import type { Usage } from '../../contracts/index.ts'
import { defineMetric } from '../../kernel/index.ts'
import { meanOf } from './reward-metrics.ts'

/** Seconds that an attempt takes. */
export const timePerTask = defineMetric({
  kind: 'time_per_task',
  summary: 'Mean seconds per attempt at a task.',
  direction: 'min',
  compute: (_rewards, { usage }) => meanUsage(usage, ({ latencyS }) => latencyS),
})

/** Seconds within which so many of a hundred answers came. */
export const latencyPercentile = defineMetric({
  kind: 'latency_p{q}',
  summary: 'Seconds within which q of a hundred answers came: latency_p50, latency_p95.',
  params: z.strictObject({ q: z.int().min(1).max(100).describe('Of a hundred.') }),
  direction: 'min',
  compute(_rewards, { params: { q }, usage }) {
    const seconds = usage
      .flat()
      .map(({ latencyS }) => latencyS)
      .filter((each) => Number.isFinite(each))
      .sort((a, b) => a - b)
    return seconds[Math.ceil((q / 100) * seconds.length) - 1]
  },
})

/** Tokens that an attempt takes. */
export const tokensPerTask = defineMetric({
  kind: 'tokens_per_task',
  summary: 'Mean tokens per attempt at a task, prompt and completion together.',
  direction: 'min',
  compute: (_rewards, { usage }) =>
    meanUsage(usage, ({ promptTokens, completionTokens }) => promptTokens + completionTokens),
})

/** Money that an attempt takes. */
export const costPerTask = defineMetric({
  kind: 'cost_per_task',
  summary: 'Mean US dollars per attempt at a task; absent where the model reports no cost.',
  direction: 'min',
  compute: (_rewards, { usage }) => meanUsage(usage, ({ costUsd }) => costUsd),
})

/**
 * Mean over tasks of the mean over their samples, of those that reported the value. Undefined where nothing was reported:
 * unknown is never zero.
 */
function meanUsage(
  usage: readonly (readonly Usage[])[],
  amountOf: (usage: Usage) => number | undefined,
): number | undefined {
  const perTask = usage.map((task) => meanOf(task.map(amountOf).filter(isReported)))
  return meanOf(perTask.filter(isReported))
}

function isReported(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value)
}
