// Why the experiment is run and how it is judged: hypothesis, objective, claim, benchmarks.
import * as z from 'zod'
import { Benchmark } from './benchmark-entry.ts'

/** `<benchmark>.<metric>`, or a bare metric: then the first val-split benchmark that has it. */
export const MetricRef = z
  .string()
  .min(1)
  .describe('`<benchmark>.<metric>`, or a bare metric of the val-split benchmark.')

export const Direction = z.enum(['max', 'min'])
export type Direction = z.infer<typeof Direction>

export const Objective = z.strictObject({
  metric: MetricRef,
  direction: Direction.optional().describe(
    'Absent: the metric’s own direction, which is max unless the metric says otherwise.',
  ),
})
export type Objective = z.infer<typeof Objective>

/** An arm by name, by axis values (`{ algorithm.kind: sft }`), or `base_model`. */
export const ArmRef = z
  .union([z.string().min(1), z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))])
  .describe('Arm name, axis values such as { algorithm.kind: sft }, or base_model.')
export type ArmRef = z.infer<typeof ArmRef>

export const Claim = z.strictObject({
  treatment: ArmRef,
  baseline: ArmRef,
  metric: MetricRef.optional().describe('Absent: the objective’s metric.'),
  min_effect: z.number().min(0).default(0).describe('Smallest improvement that counts.'),
  confidence: z.number().min(0.5).max(0.999).default(0.9).describe('Coverage of the interval that decides.'),
})
export type Claim = z.infer<typeof Claim>

export const Metadata = z.strictObject({
  hypothesis: z.string().min(1).optional().describe('Why this is run: one or two sentences that can turn out wrong.'),
  notes: z.string().optional().describe('Anything a reader should know.'),
  tags: z.array(z.string().min(1)).default([]).describe('Free labels of the experiment.'),
  project_goal_id: z.string().min(1).optional().describe('Goal that this experiment serves.'),
  objective: Objective.optional().describe('What ranks the arms.'),
  claim: Claim.optional().describe('What would make the hypothesis true, in numbers.'),
  benchmark: z.array(Benchmark).default([]).describe('What every run is scored on.'),
  extra: z.record(z.string(), z.unknown()).optional().describe('Stored, never read.'),
})
export type Metadata = z.infer<typeof Metadata>
