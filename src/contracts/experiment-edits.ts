// What a candidate of research over an experiment file may change, as data: it is stored in the journal, and a proposer writes it.
// Every edit names a place of one run. What judges the run (benchmarks, verifiers, metrics, splits, seeds, budget) has no edit.
import * as z from 'zod'
import { KnobValue } from './knob.ts'
import { Count, Text } from './name.ts'
import { Kind, Params } from './plugin.ts'
import { Stage, TeacherSpec } from './run-config.ts'

/** Whose recipe or data: that of the run where nothing is named. */
const stage = Count.optional().describe('Of this stage, or dataset of a chain, from 0; absent: of the run itself.')
const mix = Count.optional().describe('Of this further data block of `mix`, from 0; absent: of `data`.')
const ofData = { stage, mix }
const at = Count.describe('Place in `transforms`, from 0.')
const changedParams = z
  .record(Text, z.json())
  .default({})
  .describe('Params that change; null: back to the default. Those that are not named stay.')

const edit = <const K extends string, S extends z.core.$ZodLooseShape>(kind: K, shape: S) =>
  z.strictObject({ edit: z.literal(kind), ...shape })

export const PluginRole = z
  .enum(['transform', 'algorithm', 'loss', 'agent', 'reward'])
  .describe('What a written file is for. A loss or a reward is part of an algorithm.')
export type PluginRole = z.infer<typeof PluginRole>

export const ExperimentEdit = z.discriminatedUnion('edit', [
  edit('set_param', {
    of: z.enum(['algorithm', 'agent']).describe('Whose param.'),
    param: Text.describe('Dotted path below `params`.'),
    value: z.json().describe('null: back to the default.'),
    stage,
  }),
  edit('set_algorithm', {
    kind: Kind,
    params: changedParams,
    stage,
  }),
  edit('set_agent', {
    kind: Kind.nullable().describe('Harness of rollouts; null: none, one chat turn.'),
    params: Params.default({}).describe('All of its params.'),
  }),
  edit('set_renderer', { renderer: Text.nullable().describe('Chat renderer; null: the model’s own template.') }),
  edit('set_dataset', { dataset: Text.describe('Stored dataset: NAME, or NAME@VERSION.'), ...ofData }),
  edit('add_transform', { at, kind: Kind, params: Params.default({}), ...ofData }),
  edit('remove_transform', { at, kind: Kind.describe('Of the transform that stands there.'), ...ofData }),
  edit('move_transform', {
    from: at,
    to: Count.describe('Its place afterwards.'),
    kind: Kind.describe('Of the transform that stands there.'),
    ...ofData,
  }),
  edit('set_transform', {
    at,
    kind: Kind.describe('Of the transform that stands there.'),
    params: changedParams,
    ...ofData,
  }),
  edit('filter_rows', {
    params: Params.describe('Of the transform `filter`: field, and equals, in, matches, min, max, nonempty, negate.'),
    ...ofData,
  }),
  edit('cap_rows', {
    key: Text.describe('Field that says of which class or source a row is.'),
    most: z.int().min(1).nullable().describe('Most rows of each; null: no cap.'),
    ...ofData,
  }),
  edit('mix_rows', {
    key: Text.describe('Field that says of which kind a row is.'),
    weights: z.record(Text, z.number().gt(0)).nullable().describe('Weight by value; null: as the data has them.'),
    n: z.int().min(1).optional().describe('Rows in all.'),
    repeat: z.boolean().optional().describe('Take rows again where there are too few.'),
    ...ofData,
  }),
  edit('order_rows', {
    by: Text.nullable().describe('Field to sort by; null: in random order again.'),
    measure: z.enum(['value', 'length']).default('value').describe('length: by how long it is.'),
    order: z.enum(['ascending', 'descending']).default('ascending'),
    stage,
  }),
  edit('set_template', {
    role: z.enum(['user', 'assistant']),
    text: Text.describe('Template over the fields of a row.'),
    ...ofData,
  }),
  edit('set_system_prompt', {
    of: z
      .enum(['data', 'rollouts', 'agent'])
      .describe('data: of training rows; rollouts: param of the algorithm; agent: param of the harness.'),
    text: Text.nullable().describe('null: none.'),
    stage,
  }),
  edit('set_examples', {
    examples: z
      .array(z.strictObject({ user: Text, assistant: Text }))
      .describe('Solved examples that stand before every conversation; none: no examples.'),
    ...ofData,
  }),
  edit('shape_reward', { params: changedParams, stage }),
  edit('set_teacher', { teacher: TeacherSpec, stage }),
  edit('add_stage', { at: Count.describe('Its place among the stages.'), value: Stage }),
  edit('remove_stage', { at: Count }),
  edit('move_stage', { from: Count, to: Count }),
  edit('write_plugin', {
    role: PluginRole,
    path: Text.describe('File, relative to the folder of the experiment, inside the declared scope.'),
    text: z.string().nullable().describe('Whole text; null: the file is removed.'),
  }),
])
export type ExperimentEdit = z.infer<typeof ExperimentEdit>
export type ExperimentEditOf<K extends ExperimentEdit['edit']> = Extract<ExperimentEdit, { edit: K }>

/** What an edit is about: candidates of one area have related outcomes. */
export const EditArea = z.enum([
  'optimizer',
  'length',
  'adapter',
  'sampling',
  'reward',
  'algorithm',
  'data',
  'template',
  'prompt',
  'harness',
  'stages',
  'teacher',
  'code',
])
export type EditArea = z.infer<typeof EditArea>

/**
 * The mark of a param in the schema of its plugin: `.meta({ search: { from: 1e-5, to: 1e-2, scale: 'log' } })`. `off` says why it is
 * never searched unless the file names it.
 */
export const SearchMark = z.union([
  z.strictObject({ off: Text.describe('Why it is not searched.') }),
  z.strictObject({
    from: z.number().optional().describe('Smallest value that is tried.'),
    to: z.number().optional().describe('Largest value that is tried.'),
    scale: z.enum(['linear', 'log']).default('linear').describe('log: equal factors are equal steps.'),
    around: z
      .number()
      .gt(1)
      .optional()
      .describe('In place of from and to: down to and up to this factor of its value.'),
    values: z.array(KnobValue).min(1).optional().describe('In place of a range: these alone; numbers in order.'),
    fields: z.literal(true).optional().describe('It names a field of the rows.'),
    template: z.literal(true).optional().describe('It is a template over fields of the rows.'),
    optional: z.literal(true).optional().describe('Of a whole transform: it may be put in and left out.'),
    area: EditArea.optional().describe('What it is about.'),
    when: z
      .record(z.string(), z.array(KnobValue).min(1))
      .optional()
      .describe('Params beside it, and the values of which it has an effect for.'),
  }),
])
export type SearchMark = z.infer<typeof SearchMark>
