// What crosses between the controller and a run worker. Events and points do not: the worker writes them to its segment file.
import * as z from 'zod'
import { ChatTemplate, Split } from './benchmark-entry.ts'
import { ErrorRecord } from './error.ts'
import { Bounds, CheckpointKind, Metrics } from './events.ts'
import { Direction } from './metadata.ts'
import { PluginSpec } from './plugin-spec.ts'
import { RunConfig } from './run-config.ts'

/** A benchmark as a worker may know it: what is asked, never what is expected. */
export const SealedBenchmark = z.strictObject({
  name: z.string(),
  split: Split,
  run_every: z.int().min(0),
  num_samples: z.int().min(1),
  max_tokens: z.int().min(1),
  temperature: z.number().min(0),
  n_concurrent: z.int().min(1),
  chat_template: ChatTemplate,
  tasks_file: z.string().describe('JSON lines of { task_id, instruction }.'),
})
export type SealedBenchmark = z.infer<typeof SealedBenchmark>

/** Where a run goes on: the newest complete checkpoint, with the optimiser’s state. */
export const ResumePoint = z.strictObject({ step: z.int().min(0), uri: z.string(), engine_id: z.string() })
export type ResumePoint = z.infer<typeof ResumePoint>

export const RunAssignment = z.strictObject({
  experiment_id: z.string(),
  experiment: z.string(),
  hypothesis: z.string().optional(),
  run_id: z.string(),
  run_name: z.string(),
  arm: z.string(),
  attempt: z.int().min(1),
  config: RunConfig,
  config_hash: z.string(),
  run_dir: z.string(),
  segment_file: z.string(),
  next_item: z.int().min(1),
  next_event: z.int().min(1),
  resume: ResumePoint.optional(),
  start_weights: z.string().optional().describe('State of the run that this one follows.'),
  guard_trips: z.int().min(0).default(0).describe('Roll-backs so far; each halves the learning rate.'),
  past: z
    .strictObject({
      evals: z.array(z.strictObject({ benchmark: z.string(), split: Split, step: z.int().min(0), metrics: Metrics })),
      checkpoints: z.array(z.strictObject({ step: z.int().min(0), kind: CheckpointKind, uri: z.string() })),
    })
    .default({ evals: [], checkpoints: [] })
    .describe('What earlier attempts left up to the resume point.'),
  benchmarks: z.array(SealedBenchmark),
  objective: z.strictObject({ benchmark: z.string(), metric: z.string(), direction: Direction }).optional(),
  callbacks: z.array(PluginSpec).describe('Those of the project; built-in loggers live in the controller.'),
  project_dir: z.string(),
  plugin_files: z.array(z.strictObject({ spec: z.string(), from: z.string() })),
  log_rollouts: z.boolean(),
  checkpoints_kept: z.int().min(1),
})
export type RunAssignment = z.infer<typeof RunAssignment>

/** One answer to one task; `error` where infrastructure failed. */
export const Prediction = z.strictObject({
  task_id: z.string(),
  sample: z.int().min(0),
  output: z.string().optional(),
  complete: z.boolean().optional(),
  prompt_tokens: z.int().min(0).optional(),
  completion_tokens: z.int().min(0).optional(),
  latency_s: z.number().min(0).optional(),
  error: ErrorRecord.optional(),
})
export type Prediction = z.infer<typeof Prediction>

/** What the scorer found. */
export const Scored = z.strictObject({
  metrics: Metrics,
  bounds: Bounds.optional(),
  rewards: z.record(z.string(), z.array(z.number().nullable())),
  n_tasks: z.int().min(0),
  n_infra_failed: z.int().min(0),
  scorer_hash: z.string(),
  predictions: z.string().optional(),
  error: ErrorRecord.optional(),
})
export type Scored = z.infer<typeof Scored>

export const ToWorker = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('assign'), assignment: RunAssignment }),
  z.strictObject({ type: z.literal('scored'), request: z.int(), scored: Scored }),
  z.strictObject({ type: z.literal('stop'), reason: z.string() }),
])
export type ToWorker = z.infer<typeof ToWorker>

export const FromWorker = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.literal('alive') }),
  z.strictObject({ type: z.literal('written'), next_item: z.int() }),
  z.strictObject({
    type: z.literal('score'),
    request: z.int(),
    benchmark: z.string(),
    step: z.int().min(0).optional(),
    predictions_file: z.string(),
  }),
  z.strictObject({
    type: z.literal('done'),
    outcome: z.enum(['finished', 'interrupted']),
    reusable: z.boolean().describe('False: it holds state that another run must not see.'),
  }),
])
export type FromWorker = z.infer<typeof FromWorker>
