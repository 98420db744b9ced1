// What a proposer thinks of: a change to the incumbent, labelled so that a model of past effects can rank it before it is run.
import * as z from 'zod'

export const IdeaCategory = z.enum(['architectural', 'optimizer', 'hyperparameter', 'regularization'])
export type IdeaCategory = z.infer<typeof IdeaCategory>

/** How boldly to change: a step from a good candidate, a departure, a step from another than the best, two near misses together, one part taken out. */
export const SearchMode = z.enum(['improve', 'explore', 'diversify', 'combine', 'ablate'])
export type SearchMode = z.infer<typeof SearchMode>

export const KnobValue = z.union([z.number(), z.string(), z.boolean()])
export type KnobValue = z.infer<typeof KnobValue>

/** Values by knob: what an optimiser may turn, declared by the task or found as literals in the code. */
export const Knobs = z.record(z.string().min(1), KnobValue)
export type Knobs = z.infer<typeof Knobs>

/** What a knob may be. */
export const KnobSpec = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('choice').describe('One of a list.'),
    values: z.array(KnobValue).min(1).describe('What it may be.'),
    ordered: z.boolean().default(false).describe('Neighbours in the list are alike.'),
  }),
  z.strictObject({
    kind: z.literal('range').describe('A number between two bounds.'),
    low: z.number().describe('Smallest value.'),
    high: z.number().describe('Largest value.'),
    log: z.boolean().default(false).describe('Equal factors are equal steps.'),
    integer: z.boolean().default(false).describe('Whole numbers alone.'),
  }),
])
export type KnobSpec = z.infer<typeof KnobSpec>

export const Change = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('knobs'), knobs: Knobs.describe('Those that change, with their new values.') }),
  z.strictObject({
    kind: z.literal('files'),
    files: z.record(z.string().min(1), z.string()).describe('Whole texts of files in scope.'),
  }),
  z.strictObject({ kind: z.literal('patch'), patch: z.string().min(1).describe('Unified diff against the base.') }),
])
export type Change = z.infer<typeof Change>

export const Idea = z.strictObject({
  title: z.string().min(1).max(200).describe('One line.'),
  hypothesis: z.string().max(4000).describe('What it should do, and why.'),
  family: z.string().min(1).max(60).describe('What kind of change it is; ideas of one family share their fate.'),
  category: IdeaCategory,
  expected_effect: z.number().optional().describe('Gain in units of the metric; positive is better.'),
  cost: z.enum(['cheaper', 'same', 'dearer']).default('same').describe('Against the base, per experiment.'),
  parents: z
    .array(z.string())
    .max(2)
    .default([])
    .describe('Attempts it builds on; the first is its base. Empty: the one asked for.'),
  change: Change,
})
export type Idea = z.infer<typeof Idea>
