// The documents that commands print under --json and that the record keeps of finished work.
import * as z from 'zod'
import { ErrorRecord } from './error.ts'
import { Metrics, RunStatus, Verdict } from './events.ts'
import { Direction } from './metadata.ts'

/** A mean with its interval over `n` seeds. */
export const Score = z.strictObject({
  mean: z.number(),
  ci: z.tuple([z.number(), z.number()]).nullable().describe('Null when one value says nothing about spread.'),
  n: z.int().min(1),
})
export type Score = z.infer<typeof Score>

export const ArmResult = z.strictObject({
  name: z.string(),
  status: RunStatus,
  params: z.record(z.string(), z.unknown()),
  seeds: z.array(z.int()),
  score: Score.optional(),
  error: ErrorRecord.optional(),
})
export type ArmResult = z.infer<typeof ArmResult>

/** `evsys run --json` and `evsys show --json`. */
export const ExperimentResult = z.strictObject({
  experiment_id: z.string(),
  name: z.string(),
  status: RunStatus,
  objective: z.strictObject({ metric: z.string(), direction: Direction }).optional(),
  best_arm: z.string().nullable(),
  arms: z.array(ArmResult),
  conclusion: z.strictObject({ verdict: Verdict, text: z.string() }).optional(),
  cost_usd: z.number().min(0).nullable().describe('Null: unknown. Never zero for unknown.'),
  wall_s: z.number().min(0),
})
export type ExperimentResult = z.infer<typeof ExperimentResult>

/** One entry of `evsys history --json`. */
export const HistoryEntry = z.strictObject({
  experiment_id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  hypothesis: z.string().nullable(),
  verdict: Verdict.nullable(),
  objective: z.strictObject({ metric: z.string(), direction: Direction }).nullable(),
  best: z.strictObject({ arm: z.string(), score: Score }).nullable(),
  conclusion: z.string().nullable(),
  cost_usd: z.number().min(0).nullable(),
})
export type HistoryEntry = z.infer<typeof HistoryEntry>

/** `evsys import --json`. */
export const ImportResult = z.strictObject({ experiment_id: z.string(), n_runs: z.int(), n_kept: z.int() })
export type ImportResult = z.infer<typeof ImportResult>

export const Artifact = z.strictObject({ name: z.string(), kind: z.string(), ref: z.string() })

/** What a whole-run algorithm returns and what `run_result.json` holds. */
export const RunResult = z.strictObject({
  run_id: z.string(),
  status: RunStatus.exclude(['pending', 'running']),
  metrics: Metrics,
  artifacts: z.array(Artifact),
  error: ErrorRecord.optional(),
})
export type RunResult = z.infer<typeof RunResult>
