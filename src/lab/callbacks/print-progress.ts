import * as z from 'zod'
import { defineCallback } from '../../kernel/index.ts'
import { metricsLine } from './metrics-line.ts'

/** A line of metrics every few steps. */
export const printProgress = defineCallback({
  kind: 'print_progress',
  summary: 'Logs one line of metrics every few steps.',
  params: z.strictObject({
    every: z.int().min(1).default(1).describe('Steps between lines.'),
    keys: z.array(z.string().min(1)).optional().describe('Metrics to show; absent: all.'),
  }),
  async open({ params, log }) {
    return {
      onStepEnd(scope, metrics) {
        if ((scope.step + 1) % params.every === 0) log('info', metricsLine(scope, metrics, params.keys))
      },
    }
  },
})
