// The documents that commands print under --json and that the record keeps of finished work.
import * as z from 'zod'
import { RunDataPreview } from './data-preview.ts'
import { ErrorRecord } from './error.ts'
import { BaselineScore, Leak, Metrics, RunStatus, Verdict } from './events.ts'
import { RunTrip } from './guard-trip.ts'
import { Direction } from './metadata.ts'
import { Seed } from './run-config.ts'

/** A mean with its interval over `n` seeds. */
export const Score = z.strictObject({
  mean: z.number(),
  ci: z.tuple([z.number(), z.number()]).nullable().describe('Null when one value says nothing about spread.'),
  n: z.int().min(1),
})
export type Score = z.infer<typeof Score>

/** One arm: its runs over all seeds. */
export const ArmResult = z.strictObject({
  name: z.string(),
  status: RunStatus,
  params: z.record(z.string(), z.unknown()),
  seeds: z.array(Seed),
  score: Score.nullable().describe('Null: no run of it has the objective’s metric.'),
  error: ErrorRecord.optional(),
})
export type ArmResult = z.infer<typeof ArmResult>

const JudgedBy = z.strictObject({ metric: z.string(), direction: Direction })

/** An engine that runs were trained on. */
export const UsedEngine = z.strictObject({
  id: z.string().describe('Equal ids give equal bytes for equal seeds.'),
  threads: z.int().min(1).nullable().describe('Null: the service does not tell.'),
  n_runs: z.int().min(1),
  gflops: z.number().positive().optional().describe('10^9 operations per second, as its machine measured once.'),
})
export type UsedEngine = z.infer<typeof UsedEngine>

/** `evsys run --json` and `evsys show --json`. */
export const ExperimentResult = z.strictObject({
  experiment_id: z.string(),
  name: z.string(),
  status: RunStatus,
  objective: JudgedBy.nullable(),
  best_arm: z.string().nullable(),
  arms: z.array(ArmResult),
  baselines: z.array(BaselineScore).optional().describe('Models that were scored for comparison; none is an arm.'),
  conclusion: z.strictObject({ verdict: Verdict, text: z.string() }).nullable().describe('Null: not finished.'),
  guards: z.array(RunTrip).optional().describe('Where a guard tripped, and what was done.'),
  leaks: z.array(Leak).optional().describe('Training rows that repeat questions, which the experiment allows.'),
  data: z.array(RunDataPreview).optional().describe('What a trial trained on, one run of each arm; under --dry alone.'),
  engines: z.array(UsedEngine).optional().describe('Of the runs that have begun.'),
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
  objective: JudgedBy.nullable(),
  best: z.strictObject({ arm: z.string(), score: Score }).nullable(),
  conclusion: z.string().nullable(),
  cost_usd: z.number().min(0).nullable(),
})
export type HistoryEntry = z.infer<typeof HistoryEntry>

/** `evsys import --json`. */
export const ImportResult = z.strictObject({
  experiment_id: z.string(),
  n_runs: z.int().min(0),
  n_kept: z.int().min(0),
})
export type ImportResult = z.infer<typeof ImportResult>

/** Something a run leaves behind, by address: weights, a prompt, a report. */
export const Artifact = z.strictObject({ name: z.string(), kind: z.string(), ref: z.string() })
export type Artifact = z.infer<typeof Artifact>

/** What a whole-run algorithm returns and what `run_result.json` holds. */
export const RunResult = z.strictObject({
  run_id: z.string(),
  status: RunStatus.exclude(['pending', 'running']),
  metrics: Metrics,
  artifacts: z.array(Artifact),
  error: ErrorRecord.optional(),
})
export type RunResult = z.infer<typeof RunResult>
