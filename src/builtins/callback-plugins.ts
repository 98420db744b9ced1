// Callbacks that come with evsys.

import * as z from 'zod'
import { defineCallback } from '../kernel/index.ts'
import { debugLogger, printProgress } from './console-loggers.ts'
import { csvMetrics } from './csv-metrics.ts'
import { localLogger } from './local-logger.ts'
import { tensorboardLogger } from './tensorboard-logger.ts'

/** Ends training when evaluations stop getting better. */
export const earlyStopping = defineCallback({
  kind: 'early_stopping',
  summary: 'Ends a run after several evaluations in a row without improvement.',
  params: z.strictObject({
    metric: z.string().min(1).describe('Metric of the evaluation.'),
    eval_name: z
      .string()
      .min(1)
      .optional()
      .describe('Benchmark to watch; absent: the first val-split one that reports the metric.'),
    patience: z.int().min(1).default(3).describe('Evaluations without improvement before it stops.'),
    mode: z.enum(['max', 'min']).default('max').describe('Whether more is better.'),
    min_delta: z.number().min(0).default(0).describe('Smallest change that counts as improvement.'),
  }),
  async open({ params }) {
    const sign = params.mode === 'max' ? 1 : -1
    let watched = params.eval_name
    let best: number | undefined
    let waited = 0
    return {
      onTrainStart() {
        watched = params.eval_name
        best = undefined
        waited = 0
      },
      onEval(scope, benchmark, split, metrics) {
        const value = metrics[params.metric]
        if (value === undefined || split !== 'val') return // a test score must not steer training
        watched ??= benchmark
        if (benchmark !== watched) return
        const isBetter = best === undefined || sign * (value - best) > params.min_delta
        best = isBetter ? value : best
        waited = isBetter ? 0 : waited + 1
        if (waited >= params.patience) {
          scope.requestStop(`${benchmark}.${params.metric} has not improved in ${waited} evaluations`)
        }
      },
    }
  },
})

export const callbackPlugins = Object.freeze([
  csvMetrics,
  debugLogger,
  earlyStopping,
  localLogger,
  printProgress,
  tensorboardLogger,
])
