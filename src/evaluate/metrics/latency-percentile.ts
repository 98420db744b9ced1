import * as z from 'zod'
import { defineMetric } from '../../kernel/index.ts'

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
