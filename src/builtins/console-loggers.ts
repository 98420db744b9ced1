import * as z from 'zod'
import type { CallbackHooks, Metrics, StepScope } from '../contracts/index.ts'
import { defineCallback } from '../kernel/index.ts'

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

/** Logs every hook with its arguments. */
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
