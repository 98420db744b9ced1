// What the loop may turn in the document of an experiment, as data: the catalogue is stored with a session, so that a session resumed
// years later makes the same candidates.
import * as z from 'zod'
import { KnobSpec, KnobValue } from './knob.ts'
import { Text } from './name.ts'
import type { PluginType } from './plugin.ts'

/**
 * What turning a knob does to the document. Paths are those of a run, as in the axes of a matrix (`algorithm.params.learning_rate`,
 * `data.transforms.0.params.key`), wherever the document writes that part: at its root or under `run`.
 */
export const EditAction = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('set').describe('Puts a value at a path.'),
    path: Text,
    values: z
      .record(Text, z.unknown())
      .optional()
      .describe(
        'What each choice writes, by the text of its value; absent: the value itself. `null`: the key is taken out.',
      ),
  }),
  z.strictObject({
    kind: z.literal('item').describe('An entry of a list that is there or not: the knob is true or false.'),
    path: Text.describe('The list, such as `data.transforms`.'),
    entry: z.unknown().describe('What is put in; found again by its kind and params that no other knob turns.'),
    before: Text.optional().describe('Kind of the entry that it is put in front of; absent: at the end.'),
  }),
  z.strictObject({
    kind: z.literal('order').describe('The order of the entries of a list.'),
    path: Text,
    orders: z.record(Text, z.array(Text)).describe('Kinds in their order, by the text of the choice.'),
  }),
])
export type EditAction = z.infer<typeof EditAction>

/** Something that may be changed, and what changing it writes. */
export const EditKnob = z.strictObject({
  spec: KnobSpec,
  action: EditAction,
  value: KnobValue.optional().describe('What it is where the document does not say: the default of the plugin.'),
  when: z
    .record(Text, z.array(KnobValue))
    .optional()
    .describe('It has an effect only where these other knobs have one of these values.'),
})
export type EditKnob = z.infer<typeof EditKnob>

/** All that may be changed in one document, by the name of the knob. */
export const EditCatalog = z.strictObject({
  document: Text.describe('Name of the experiment file among the files of a candidate.'),
  knobs: z.record(Text, EditKnob),
})
export type EditCatalog = z.infer<typeof EditCatalog>

/** JSON Schema of the params of a plugin, as `evsys schema TYPE KIND` prints it; undefined: no such plugin. */
export type PluginSchemas = (type: PluginType, kind: string) => Readonly<Record<string, unknown>> | undefined
