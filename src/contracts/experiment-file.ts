// The experiment file. `Experiment` is the one canonical form that everything inside works on; `ExperimentFile` is what
// people may write: the same with shorthands and first-generation keys. The config room turns the second into the first.
import * as z from 'zod'
import { BenchmarkEntry, Metadata, MetricRef } from './metadata.ts'
import { Name, Text } from './name.ts'
import { Kind, PluginSpec } from './plugin.ts'
import { Budget } from './quantity.ts'
import { ResearchBlock } from './research-experiment.ts'
import { DataConfig, ModelConfig, RunConfig, Seed, Stage } from './run-config.ts'
import { Resources } from './task-file.ts'

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
export const AxisValue = z.union([Scalar, z.array(z.unknown()), z.record(z.string(), z.unknown())])

export const Axes = z
  .record(Text, z.array(AxisValue).min(1))
  .describe('Dotted path in the run -> values. The arms are their cartesian product, in the order written.')
export type Axes = z.infer<typeof Axes>

export const NameTemplate = Text.describe('Name of each arm: `{base}` and `{dotted.path}` are replaced.')

export const Continual = z.strictObject({
  datasets: z
    .array(DataConfig)
    .min(1)
    .describe('One stage each; every stage starts from the weights of the one before.'),
  name_template: Text.default('{base}_stage{i}').describe('Name of a stage: `{base}` and `{i}` are replaced.'),
  mix: z
    .boolean()
    .default(false)
    .describe(
      'Also trains one arm, `{base}_mix`, on all datasets together for as long: what the chain is compared with.',
    ),
})
export type Continual = z.infer<typeof Continual>

export const Stages = z.strictObject({
  stages: z.array(Stage).min(1).describe('Recipes in order; every stage starts from the weights of the one before.'),
})
export type Stages = z.infer<typeof Stages>

export const Compute = z.strictObject({
  kind: Kind.default('local').describe('Compute provider that the runs are sent to.'),
  params: z.record(z.string(), z.unknown()).default({}).describe('Checked by the provider.'),
  resources: Resources.optional(),
  setup: z.string().optional().describe('Shell commands before the run.'),
  envs: z.record(z.string(), z.string()).optional().describe('Environment of the job; values may hold ${secret:NAME}.'),
})
export type Compute = z.infer<typeof Compute>

const common = {
  $schema: z.string().optional().describe('JSON Schema for editors.'),
  version: z.literal(1, 'this evsys reads version 1').default(1).describe('Version of this file format.'),
  name: Name.describe('Name of the experiment.'),
  description: z.string().default('').describe('One paragraph for readers.'),
  output_dir: Text.optional().describe(
    'Where runs are written, relative to this file; absent: .evsys/runs in the project.',
  ),
  leaks: z
    .enum(['drop', 'warn', 'refuse'])
    .optional()
    .describe(
      'Training rows that repeat questions of a benchmark: left out and counted, kept and recorded, or refused, which is the default. `leaks` of a benchmark wins.',
    ),
  log_rollouts: z.boolean().default(false).describe('Write training rollouts to the loggers.'),
  data_store: PluginSpec.optional().describe(
    'Data store that the paths of data blocks are read from, where a block names none with `store`.',
  ),
  log_store: PluginSpec.optional().describe(
    'Log store that the metrics, the configuration and the checkpoints of every run also go to.',
  ),
  callbacks: z.array(PluginSpec).default([]).describe('Loggers and other callbacks; empty: local_logger.'),
  plugins: z.array(Text).default([]).describe('Plugin files, relative to this file, or npm packages.'),
  n_repeats: z.int().min(1).max(10_000).default(1).describe('Seeded replicates of every arm.'),
  base_seed: Seed.optional().describe('First replicate seed; absent: each run’s own seed.'),
  max_concurrent_arms: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Runs at a time; absent: as many as the machine has room for.'),
  parent_experiment_id: Text.optional().describe('Experiment that this one follows.'),
  budget: Budget.optional().describe('Hard caps; a forecast is checked before anything starts.'),
  compute: Compute.optional().describe(
    'Where the runs are sent. They execute on this machine alone: another kind than `local` is refused.',
  ),
  deploy: PluginSpec.optional().describe('Deployer for the best checkpoint. Nothing deploys yet: refused.'),
  research: ResearchBlock.optional().describe(
    'What `evsys research run FILE` may change and spend; `evsys run` leaves it aside.',
  ),
  continual: Continual.optional().describe('Datasets that arrive one after the other. Needs `run`.'),
}

/** Canonical form: every arm written out, every default filled in. */
export const Experiment = z.strictObject({
  ...common,
  metadata: Metadata.default({ tags: [], benchmark: [] }).describe('Why it is run and how it is judged.'),
  runs: z.array(RunConfig).min(1).describe('The arms.'),
  stages: Stages.optional().describe('Recipes one after the other.'),
})
export type Experiment = z.infer<typeof Experiment>

const PartialSpec = PluginSpec.partial({ kind: true })
/** A kind alone is short for one without params. */
const WrittenSpec = z.union([PartialSpec, Kind])
const PartialModel = ModelConfig.partial({ name: true })

const PartialRun = RunConfig.partial()
  .extend({
    model: PartialModel.optional().describe('What is trained.'),
    algorithm: PartialSpec.optional().describe('The training recipe.'),
    backend: PartialSpec.optional().describe('Where the model trains; absent: local.'),
    agent: WrittenSpec.optional().describe('Harness for rollouts, by its kind or with params; absent: one chat turn.'),
    environment: WrittenSpec.optional().describe(
      'Where task folders are attempted: local or docker; absent: the least that holds the task.',
    ),
  })
  .describe('A run whose missing parts axes, shorthands or `extends` supply; its name defaults to the experiment’s.')

/** `eval` of the first generation. */
export const LegacyEval = z.strictObject({
  enabled: z.boolean().default(true).describe('False: no evaluation.'),
  metrics: z.array(PluginSpec).default([]).describe('Metrics; none: no evaluation.'),
  inference: PluginSpec.nullable().optional().describe('Client that answers; absent: the trained checkpoint.'),
  eval_data: DataConfig.nullable().optional().describe('Rows to score; absent: the training rows.'),
  n_samples: z.int().min(1).nullable().optional().describe('First N rows.'),
})

/** `validation` of the first generation. */
export const LegacyValidation = z.strictObject({
  dataset_id: Text.describe('Stored benchmark by id.'),
  eval_for_every: z.int().min(1).describe('Scored after every N training steps.'),
  metrics: z
    .array(z.union([Kind, PluginSpec]))
    .min(1)
    .optional()
    .describe('Metrics; absent: those of a benchmark.'),
})

const WrittenRun = PartialRun.extend({
  eval: LegacyEval.optional().describe('First generation: write metadata.benchmark.'),
  validation: LegacyValidation.optional().describe('First generation: write metadata.benchmark with run_every.'),
})

export const Matrix = z.strictObject({
  axes: Axes.default({}),
  base_run: WrittenRun.optional().describe('Template of every arm; may also stand beside `matrix`.'),
  name_template: NameTemplate.optional(),
})
export type Matrix = z.infer<typeof Matrix>

const WrittenBenchmark = BenchmarkEntry.extend({
  model: Text.optional().describe('Short for models: [model].'),
  agent: z
    .union([PluginSpec, Kind])
    .optional()
    .describe('Harness for these rollouts, by its kind or with params; absent: the run’s.'),
  environment: z
    .union([PluginSpec, Kind])
    .optional()
    .describe('Where its task folders are attempted; absent: the run’s.'),
})

const WrittenMetadata = Metadata.extend({
  success_metric: MetricRef.optional().describe('Short for objective: { metric }.'),
  benchmark: z
    .union([z.array(WrittenBenchmark), WrittenBenchmark])
    .optional()
    .describe('What every run is scored on: one, or a list.'),
})

/** What may stand in a file: the canonical fields, shorthands, and first-generation keys. */
export const ExperimentFile = z.strictObject({
  ...common,
  extends: z
    .union([Text, z.array(Text).min(1)])
    .optional()
    .describe('File or files that this one is laid over, relative to it. Mappings merge, lists are replaced.'),
  metadata: WrittenMetadata.optional().describe('Why it is run and how it is judged.'),
  run: WrittenRun.optional().describe('One arm.'),
  runs: z.array(WrittenRun).min(1).optional().describe('Several arms, written out.'),
  matrix: Matrix.optional().describe('Arms as the product of axes.'),
  base_run: WrittenRun.optional().describe('The template of `matrix`, beside it.'),
  stages: z
    .union([Stages, z.array(Stage).min(1)])
    .optional()
    .describe('Recipes one after the other, e.g. sft then rl. Needs `run`.'),
  data: DataConfig.optional().describe('Short for run.data.'),
  model: PartialModel.optional().describe('Short for run.model.'),
  algorithm: PartialSpec.optional().describe('Short for run.algorithm.'),
  backend: PartialSpec.optional().describe('Short for run.backend.'),
  agent: WrittenSpec.optional().describe('Short for run.agent.'),
  environment: WrittenSpec.optional().describe('Short for run.environment.'),
  seed: Seed.optional().describe('Short for run.seed.'),
  eval: LegacyEval.optional().describe('First generation: write metadata.benchmark.'),
  validation: LegacyValidation.optional().describe('First generation: write metadata.benchmark with run_every.'),
})
export type ExperimentFile = z.input<typeof ExperimentFile>
