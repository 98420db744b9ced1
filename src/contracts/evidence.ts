// The numbers behind a conclusion. Computed from stored scores, never written by hand; prose is made from these alone.
import * as z from 'zod'
import { ErrorRecord } from './error.ts'
import { RunStatus, Verdict } from './events.ts'
import { Direction } from './metadata.ts'
import { Score } from './results.ts'

const IntervalPair = z.tuple([z.number(), z.number()])

/** One treatment against one baseline. */
export const PairEvidence = z.strictObject({
  treatment: z.string(),
  baseline: z.string(),
  effect: z.number().describe('Mean improvement; positive is better whatever the direction.'),
  interval: IntervalPair.nullable().describe('Over seeds, on this benchmark: it decides.'),
  transfer_interval: IntervalPair.nullable().describe('Over seeds and tasks: on tasks like these.'),
  confidence: z.number(),
  n_seeds: z.int(),
  n_tasks: z.int().nullable(),
  seed_variance: z.number().nullable(),
  task_variance: z.number().nullable(),
  residual_variance: z.number().nullable(),
  limited_by: z.enum(['seeds', 'tasks', 'residual']).nullable(),
  p_sign_flip: z.number().nullable().describe('Null where so few seeds cannot reach a small value.'),
  evidence: z.number().describe('Anytime-valid; 20 or more is strong.'),
  verdict: z.enum(['supported', 'refuted', 'inconclusive']),
  reason: z.string(),
  seeds_still_needed: z.int().nullable(),
})
export type PairEvidence = z.infer<typeof PairEvidence>

export const ArmEvidence = z.strictObject({
  name: z.string(),
  status: RunStatus,
  score: Score.nullable(),
  by_seed: z.array(z.strictObject({ seed: z.int(), value: z.number() })),
  n_failed: z.int(),
  error: ErrorRecord.optional(),
})
export type ArmEvidence = z.infer<typeof ArmEvidence>

/** What a chain of datasets kept and lost, benchmark by benchmark. */
export const Forgetting = z.strictObject({
  benchmarks: z.array(z.strictObject({ name: z.string(), metric: z.string(), direction: Direction })),
  stages: z
    .array(z.strictObject({ arm: z.string(), scores: z.array(z.number().nullable()) }))
    .describe('After each dataset, in order: the mean over seeds on every benchmark.'),
  mix: z
    .strictObject({ arm: z.string(), scores: z.array(z.number().nullable()) })
    .nullable()
    .describe('All datasets at once, where that was asked for.'),
  lost: z
    .array(z.number().nullable())
    .describe('By benchmark: the best score of an earlier stage less the last one; negative is a gain.'),
})
export type Forgetting = z.infer<typeof Forgetting>

export const Evidence = z.strictObject({
  verdict: Verdict,
  objective: z.strictObject({ benchmark: z.string(), metric: z.string(), direction: Direction }).nullable(),
  best_arm: z.string().nullable(),
  chosen_among: z.int().describe('Arms that the best one was chosen from; more than one: confirm it on fresh seeds.'),
  arms: z.array(ArmEvidence),
  claim: z
    .strictObject({
      benchmark: z.string(),
      metric: z.string(),
      min_effect: z.number(),
      overall: PairEvidence,
      pairs: z.array(PairEvidence),
    })
    .nullable(),
  forgetting: Forgetting.optional().describe('Present where datasets came one after the other.'),
  n_runs: z.int(),
  n_completed: z.int(),
  n_invalid: z.int(),
  n_test_looks: z.int().describe('In-loop looks at test benchmarks; each one spends some of what test is for.'),
})
export type Evidence = z.infer<typeof Evidence>
