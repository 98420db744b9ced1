// Everything worth telling, as one discriminated union per stream. Producers emit; terminal, store, SSE and files subscribe.
import * as z from 'zod'
import { Split } from './benchmark-entry.ts'
import { ErrorRecord } from './error.ts'

export const LogLevel = z.enum(['debug', 'info', 'warn', 'error'])
export type LogLevel = z.infer<typeof LogLevel>

/** Finite numbers only: a NaN loss is a guard event, not a point. */
export const Metrics = z.record(z.string(), z.number())
export type Metrics = z.infer<typeof Metrics>

export const RunStatus = z.enum(['pending', 'running', 'completed', 'stopped', 'failed', 'cancelled'])
export type RunStatus = z.infer<typeof RunStatus>

export const Verdict = z.enum(['supported', 'refuted', 'inconclusive', 'exploratory', 'failed'])
export type Verdict = z.infer<typeof Verdict>

export const CheckpointKind = z.enum(['state', 'sampler'])

/** `seq` counts the items of one stream from 1, without gaps: it is the resume cursor. */
const base = { seq: z.int().min(1), at: z.iso.datetime(), run_id: z.string().min(1) }

export const RunEvent = z.discriminatedUnion('type', [
  z.object({
    ...base,
    type: z.literal('run.started'),
    config_hash: z.string(),
    attempt: z.int().min(1),
    engine_id: z.string().optional(),
    num_steps: z.int().min(0).optional(),
    resumed_from_step: z.int().min(0).optional(),
  }),
  z.object({ ...base, type: z.literal('data.loaded'), n_rows: z.int().min(0), data_hash: z.string() }),
  z.object({ ...base, type: z.literal('step.finished'), step: z.int().min(0), metrics: Metrics }),
  z.object({
    ...base,
    type: z.literal('checkpoint.saved'),
    step: z.int().min(0),
    kind: CheckpointKind,
    ref: z.string().min(1),
    final: z.boolean().default(false),
  }),
  z.object({
    ...base,
    type: z.literal('eval.started'),
    benchmark: z.string(),
    split: Split,
    step: z.int().min(0).optional(),
  }),
  z.object({
    ...base,
    type: z.literal('eval.finished'),
    benchmark: z.string(),
    split: Split,
    step: z.int().min(0).optional().describe('Absent: scored after training.'),
    metrics: Metrics,
    n_tasks: z.int().min(0),
    n_infra_failed: z.int().min(0),
    scorer_hash: z.string(),
  }),
  z.object({
    ...base,
    type: z.literal('rollout.finished'),
    task_id: z.string(),
    sample: z.int().min(0),
    step: z.int().min(0).optional(),
    reward: z.number().optional(),
    error: ErrorRecord.optional(),
  }),
  z.object({
    ...base,
    type: z.literal('guard.tripped'),
    step: z.int().min(0),
    reason: z.enum(['nan', 'spike']),
    rolled_back_to: z.int().min(0).optional(),
    learning_rate: z.number().optional(),
  }),
  z.object({ ...base, type: z.literal('notice'), text: z.string() }),
  z.object({ ...base, type: z.literal('log'), level: LogLevel, text: z.string() }),
  z.object({
    ...base,
    type: z.literal('run.finished'),
    status: RunStatus.exclude(['pending', 'running']),
    error: ErrorRecord.optional(),
    metrics: Metrics,
    best_step: z.int().min(0).optional(),
    cost_usd: z.number().min(0).optional(),
    tokens: z.int().min(0).optional(),
    wall_s: z.number().min(0).optional(),
  }),
])
export type RunEvent = z.infer<typeof RunEvent>

const experimentBase = { seq: z.int().min(1), at: z.iso.datetime(), experiment_id: z.string().min(1) }

export const ExperimentEvent = z.discriminatedUnion('type', [
  z.object({
    ...experimentBase,
    type: z.literal('experiment.started'),
    name: z.string(),
    hypothesis: z.string().optional(),
    config_hash: z.string(),
    n_arms: z.int().min(1),
    n_runs: z.int().min(1),
  }),
  z.object({
    ...experimentBase,
    type: z.literal('run.queued'),
    run_id: z.string(),
    run_name: z.string(),
    arm: z.string(),
    seed: z.int(),
  }),
  z.object({
    ...experimentBase,
    type: z.literal('budget.warned'),
    resource: z.string(),
    used: z.number(),
    cap: z.number(),
  }),
  z.object({ ...experimentBase, type: z.literal('notice'), text: z.string() }),
  z.object({
    ...experimentBase,
    type: z.literal('experiment.finished'),
    status: RunStatus.exclude(['pending', 'running']),
    verdict: Verdict,
    best_arm: z.string().optional(),
    conclusion: z.string(),
  }),
])
export type ExperimentEvent = z.infer<typeof ExperimentEvent>
