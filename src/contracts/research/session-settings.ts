// What a research session was begun with. It never changes, so that a session that goes on after a crash is the same session.
import * as z from 'zod'
import { Direction } from '../metadata.ts'
import { PluginSpec } from '../plugin-spec.ts'
import { Duration } from '../quantity.ts'
import { KnobSpec } from './idea.ts'
import { SecondaryMetric } from './task-fields.ts'

/** Caps on a whole session. Reaching one ends it; no step is begun whose forecast goes beyond one. */
export const ResearchBudget = z.strictObject({
  experiments: z.int().positive().optional().describe('Attempts besides the baseline.'),
  wall: Duration.optional().describe('Time that a controller works on the session.'),
  tokens: z.int().positive().optional().describe('Tokens of the proposer, in and out.'),
  usd: z.number().positive().optional().describe('US dollars; a call whose cost is unknown is charged its forecast.'),
})
export type ResearchBudget = z.infer<typeof ResearchBudget>

export const SessionSettings = z.strictObject({
  task: z.string().min(1),
  reference: z
    .string()
    .optional()
    .describe('As the task was asked for, where that is not its name: a variant, or a folder.'),
  task_hash: z.string().describe('Scores compare only where it is equal.'),
  metric: z.string().min(1),
  direction: Direction,
  unit: z.string().optional(),
  secondary: z.array(SecondaryMetric).default([]),
  space: z.record(z.string(), KnobSpec).default({}),
  train_seconds: z.number().positive(),
  seed: z.int().min(0).describe('Root of all randomness of the session itself.'),
  seeds: z.array(z.int().min(0)).min(1).describe('Of search, in the order of use.'),
  strategy: PluginSpec,
  keep_rule: PluginSpec,
  proposer: PluginSpec,
  workers: z.int().min(1),
  budget: ResearchBudget,
  noise_runs: z.int().min(1).describe('Seeds on which the baseline is measured first.'),
  control_every: z.int().min(0).describe('Attempts between two control runs of the incumbent; 0: none.'),
  confirm_every: z.int().min(0).describe('Keeps between two confirmations; 0: at the end alone.'),
})
export type SessionSettings = z.infer<typeof SessionSettings>
