// One run: data, model, recipe, place to train. What an arm of an experiment expands to.
import * as z from 'zod'
import { Count, Name, Text } from './name.ts'
import { Kind, Params, PluginSpec, pluginReference } from './plugin.ts'

export const Seed = Count.max(4_294_967_295)

export const DataConfig = z
  .strictObject({
    source_kind: Kind.default('jsonl').describe(
      'Data source: jsonl, json, csv, parquet, folder, harbor, hf_dataset, in_memory, none or a plugin; absent: csv or parquet where `path` ends so. Ignored when dataset_id or dataset_name is set.',
    ),
    dataset_id: Text.optional().describe(
      'Stored dataset by the id that `evsys dataset list` shows. Wins over everything else.',
    ),
    dataset_name: Text.optional().describe('Stored dataset by name: `router`, its newest version, or `router@2`.'),
    path: Text.optional().describe(
      'File of a jsonl, json, csv or parquet source, or folder of a folder or harbor source, relative to this file.',
    ),
    store: PluginSpec.optional().describe(
      'Data store that `path` is read from; absent: `data_store` of the experiment, else files of this machine.',
    ),
    rows: z.array(z.record(z.string(), z.unknown())).min(1).optional().describe('Rows of an in_memory source.'),
    hf_dataset: Text.optional().describe('Hugging Face dataset: a folder or a hub id.'),
    hf_split: Text.default('train').describe('Split of the Hugging Face or stored dataset.'),
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
    name: Text.describe('Base model: `evsys/tiny`, a Hugging Face id or a folder.'),
    load_checkpoint_path: Text.optional().describe('Continue: weights and optimiser state.'),
    init_from_checkpoint: Text.optional().describe('Start from these weights with a fresh optimiser.'),
    renderer_name: Text.optional().describe('Chat renderer; absent: the model’s own template.'),
    resume_step: Count.optional().describe('With load_checkpoint_path: training resumes at the step after this one.'),
  })
  .describe('What is trained.')
export type ModelConfig = z.infer<typeof ModelConfig>

export const Stage = z.strictObject({
  algorithm: PluginSpec.describe('The recipe of this stage.'),
  data: DataConfig.optional().describe('Absent: the run’s data.'),
})
export type Stage = z.infer<typeof Stage>

export const RunConfig = z.strictObject({
  name: Name.describe('Unique within the experiment.'),
  data: DataConfig,
  mix: z.array(DataConfig).min(1).optional().describe('Further data, trained on together with `data`.'),
  model: ModelConfig,
  algorithm: PluginSpec.describe('The training recipe.'),
  backend: PluginSpec.default({ kind: 'local', params: {} }).describe('Where the model trains.'),
  seed: Seed.default(42).describe('Root of all randomness of the run.'),
  tags: z.array(Text).default([]).describe('Free labels.'),
  agent: PluginSpec.optional().describe('Harness for rollouts; absent: one chat turn.'),
  environment: PluginSpec.optional().describe(
    'Where task folders are attempted: local or docker; absent: the least that holds the task.',
  ),
})
export type RunConfig = z.infer<typeof RunConfig>

// Whom a recipe of distillation learns from, as it is written in its params. The lab reads it too: a teacher's base model has to be
// served, its client needs secrets, and another arm has to come first.
export const TeacherSpec = z
  .strictObject({
    checkpoint: Text.optional().describe(
      'Weights to sample from by their address, or `arm:NAME`: the final weights of an arm that is written before.',
    ),
    base_model: Text.optional().describe(
      'A base model of the service as it came. Beside `checkpoint`: the base model that its weights belong to.',
    ),
    prompt: Text.optional().describe(
      'The weights that the run starts from, with this system message: instructions or demonstrations.',
    ),
    client: z
      .union([Text, pluginReference('inference_client')])
      .optional()
      .describe('A model that answers in text: by name, as claude-sonnet-4-6, or by its client as { kind, params }.'),
  })
  .refine(({ checkpoint, base_model, prompt, client }) => {
    const given = [checkpoint ?? base_model, prompt, client].filter((each) => each !== undefined)
    return given.length === 1
  }, 'a teacher is one of checkpoint, base_model, prompt and client; base_model may stand beside checkpoint')
export type TeacherSpec = z.infer<typeof TeacherSpec>

const WithTeacher = z.object({ teacher: TeacherSpec })
const WithProposer = z.object({ proposer: z.object({ client: TeacherSpec.shape.client }) })
const WithPhases = z.object({ phases: z.array(z.object({ params: z.unknown() })) })

/** The other models that the params of a recipe name, those of its phases included: teachers, and a proposer of prompts. */
export function teachersOf(params: unknown): TeacherSpec[] {
  const own = WithTeacher.safeParse(params).data
  const phases = WithPhases.safeParse(params).data?.phases ?? []
  const proposer = WithProposer.safeParse(params).data?.proposer
  const named = [...(own === undefined ? [] : [own.teacher]), ...(proposer === undefined ? [] : [proposer])]
  return [...named, ...phases.flatMap((phase) => teachersOf(phase.params))]
}

// Weights of another arm: `arm:NAME` where a checkpoint is asked for. It means the final weights of the run of that arm that has the
// same seed; the run that refers to it waits for it.
const form = /^arm:(.+)$/s

/** The name of the arm; undefined where the text is no reference to one. */
export function armReference(checkpoint: string | undefined): string | undefined {
  return form.exec(checkpoint ?? '')?.[1]
}

/** Every arm whose weights a run needs. */
export function referencedArms({ model, algorithm }: Pick<RunConfig, 'model' | 'algorithm'>): string[] {
  const teachers = teachersOf(algorithm.params).map(({ checkpoint }) => checkpoint)
  return [...new Set([model.init_from_checkpoint, ...teachers].flatMap((each) => armReference(each) ?? []))]
}

// `agent_import_path` names the harness of rollouts: a kind, a file with an export (`./agent.ts#Name`), or a Python class.
const dotted = /^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[.:](_*[A-Z]\w*)$/

/** A Python class as `package.module:Class`; undefined where the text names something else. */
export function pythonClass(text: string): string | undefined {
  const [, module, name] = dotted.exec(text) ?? []
  return module === undefined || name === undefined ? undefined : `${module}:${name}`
}

/** Absent: the run names none. A file stands in place of a kind. */
export function agentOf({ agent, algorithm }: Pick<RunConfig, 'agent' | 'algorithm'>): PluginSpec | undefined {
  const path = algorithm.params.agent_import_path
  if (agent !== undefined || typeof path !== 'string') return agent
  const importPath = pythonClass(path)
  return importPath === undefined ? { kind: path, params: {} } : { kind: 'python', params: { import_path: importPath } }
}
