// Callbacks that log a run, or end it, by what its steps and evaluations report.
import * as z from 'zod'
import type { CallbackHooks, Metrics, StepScope } from '../contracts/index.ts'
import { defineCallback } from '../kernel/index.ts'

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

const HOOKS = [
  'onExperimentStart',
  'onGroupStart',
  'onRunStart',
  'onTrainData',
  'onTrainStart',
  'onRollout',
  'onStepEnd',
  'onCheckpoint',
  'onEval',
  'onTrainEnd',
  'onBenchmarkEval',
  'onRunEnd',
  'onExperimentEnd',
] as const satisfies readonly (keyof CallbackHooks)[]

export const debugLogger = defineCallback({
  kind: 'debug_logger',
  summary: 'Logs every callback hook with its arguments, cut to length: for finding out what happens when.',
  params: z.strictObject({
    max_len: z.int().min(20).default(400).describe('Characters per line.'),
    max_pred_rows: z.int().min(0).default(3).describe('Rows shown of a list.'),
  }),
  async open({ params, log }) {
    const shown = (value: unknown) =>
      JSON.stringify(value, (_key, each: unknown) =>
        Array.isArray(each) ? each.slice(0, params.max_pred_rows) : each,
      ) ?? String(value)
    const hook =
      (name: string) =>
      (...args: unknown[]) => {
        log('debug', `${name} ${args.slice(1).map(shown).join(' ')}`.slice(0, params.max_len))
      }
    return Object.fromEntries(HOOKS.map((name) => [name, hook(name)]))
  },
})

// A step's metrics as one line for people.
export function metricsLine({ step, numSteps, run }: StepScope, metrics: Metrics, keys?: readonly string[]): string {
  const chosen = Object.entries(metrics).filter(([key]) => keys === undefined || keys.includes(key))
  const values = chosen.map(([key, value]) => `${key} ${Number(value.toPrecision(5))}`)
  return `${run?.name ?? 'run'}  step ${step + 1}/${numSteps}  ${values.join('  ')}`
}

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
