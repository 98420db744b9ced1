import * as z from 'zod'
import type { CallbackHooks } from '../../contracts/index.ts'
import { defineCallback } from '../../kernel/index.ts'

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
