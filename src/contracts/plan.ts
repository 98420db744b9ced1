// What a valid experiment will do: its arms, its runs, in the order they start. Printed before anything starts.
import * as z from 'zod'
import { Location } from './error.ts'
import { Experiment } from './experiment-file.ts'
import { Direction } from './metadata.ts'
import { RunConfig } from './run-config.ts'

/** One run of the plan. Runs of one arm differ in seed alone and form a group. */
export const PlannedRun = z.strictObject({
  name: z.string(),
  arm: z.string(),
  seed: z.int(),
  stage: z.int().min(0).optional().describe('Position in a continual or staged chain.'),
  after: z.string().optional().describe('Run whose final weights this one starts from.'),
  config: RunConfig,
  config_hash: z.string(),
})
export type PlannedRun = z.infer<typeof PlannedRun>

export const PlannedArm = z.strictObject({
  name: z.string(),
  params: z.record(z.string(), z.unknown()).describe('Axis values that make this arm.'),
  seeds: z.array(z.int()),
  max_steps: z.int().optional(),
})
export type PlannedArm = z.infer<typeof PlannedArm>

/** Something a reader should know that is no error: a translated key, a shadowed built-in, a metered test look. */
export const Notice = z.strictObject({ text: z.string(), where: Location.optional() })
export type Notice = z.infer<typeof Notice>

export const ResolvedObjective = z.strictObject({ benchmark: z.string(), metric: z.string(), direction: Direction })
export type ResolvedObjective = z.infer<typeof ResolvedObjective>

/** A claim with its arms and its metric found. Arms are paired when axes that it does not name make several. */
export const ResolvedClaim = z.strictObject({
  benchmark: z.string(),
  metric: z.string(),
  direction: Direction,
  pairs: z
    .array(z.strictObject({ treatment: z.string(), baseline: z.string() }))
    .min(1)
    .describe('Names of arms, or base_model.'),
  min_effect: z.number(),
  confidence: z.number(),
})
export type ResolvedClaim = z.infer<typeof ResolvedClaim>

export const Plan = z.strictObject({
  experiment: Experiment,
  config_hash: z.string(),
  objective: ResolvedObjective.optional(),
  claim: ResolvedClaim.optional(),
  arms: z.array(PlannedArm).min(1),
  runs: z.array(PlannedRun).min(1),
  notices: z.array(Notice),
})
export type Plan = z.infer<typeof Plan>

/** `evsys validate --json`. */
export const ValidateReport = z.strictObject({
  valid: z.literal(true),
  file: z.string(),
  deep: z.boolean(),
  name: z.string(),
  config_hash: z.string(),
  objective: ResolvedObjective.optional(),
  n_runs: z.int(),
  arms: z.array(PlannedArm),
  notices: z.array(Notice),
})
export type ValidateReport = z.infer<typeof ValidateReport>
