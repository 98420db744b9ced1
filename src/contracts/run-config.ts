// One run: data, model, recipe, place to train. What an arm of an experiment expands to.
import * as z from 'zod'
import { Name } from './name.ts'
import { Kind, Params, PluginSpec } from './plugin-spec.ts'

export const Seed = z.int().min(0).max(4_294_967_295)

export const DataConfig = z
  .strictObject({
    source_kind: Kind.default('jsonl').describe(
      'Data source: jsonl, json, csv, parquet, folder, harbor, hf_dataset, in_memory or a plugin. Ignored when dataset_id or dataset_name is set.',
    ),
    dataset_id: z
      .string()
      .min(1)
      .optional()
      .describe('Stored dataset by the id that `evsys dataset list` shows. Wins over everything else.'),
    dataset_name: z
      .string()
      .min(1)
      .optional()
      .describe('Stored dataset by name: `router`, its newest version, or `router@2`.'),
    path: z
      .string()
      .min(1)
      .optional()
      .describe(
        'File of a jsonl, json, csv or parquet source, or folder of a folder or harbor source, relative to this file.',
      ),
    rows: z.array(z.record(z.string(), z.unknown())).min(1).optional().describe('Rows of an in_memory source.'),
    hf_dataset: z.string().min(1).optional().describe('Hugging Face dataset: a folder or a hub id.'),
    hf_split: z.string().min(1).default('train').describe('Split of the Hugging Face or stored dataset.'),
    params: Params.optional().describe('Parameters of a data source plugin.'),
    transforms: z
      .array(PluginSpec)
      .default([])
      .describe('Applied in order; the last one yields the rows that the algorithm takes.'),
  })
  .describe(
    'Where the rows come from and how they are shaped. Rows carry no supervision: the algorithm decides target tokens.',
  )
export type DataConfig = z.infer<typeof DataConfig>

export const ModelConfig = z
  .strictObject({
    name: z.string().min(1).describe('Base model: `evsys/tiny`, a Hugging Face id or a folder.'),
    load_checkpoint_path: z.string().min(1).optional().describe('Continue: weights and optimiser state.'),
    init_from_checkpoint: z.string().min(1).optional().describe('Start from these weights with a fresh optimiser.'),
    renderer_name: z.string().min(1).optional().describe('Chat renderer; absent: the model’s own template.'),
    resume_step: z
      .int()
      .min(0)
      .optional()
      .describe('With load_checkpoint_path: training goes on at the step after this one.'),
  })
  .describe('What is trained.')
export type ModelConfig = z.infer<typeof ModelConfig>

export const RunConfig = z.strictObject({
  name: Name.describe('Unique within the experiment.'),
  data: DataConfig,
  mix: z.array(DataConfig).min(1).optional().describe('Further data, trained on together with `data`.'),
  model: ModelConfig,
  algorithm: PluginSpec.describe('The training recipe.'),
  backend: PluginSpec.default({ kind: 'local', params: {} }).describe('Where the model trains.'),
  seed: Seed.default(42).describe('Root of all randomness of the run.'),
  tags: z.array(z.string().min(1)).default([]).describe('Free labels.'),
  agent: PluginSpec.optional().describe('Harness for rollouts; absent: one chat turn.'),
  environment: PluginSpec.optional().describe(
    'Where task folders are attempted: local or docker; absent: the least that holds the task.',
  ),
})
export type RunConfig = z.infer<typeof RunConfig>
