// Research over an experiment file: what its `research:` block says.
import * as z from 'zod'
import { KnobSpec } from './knob.ts'
import { Text } from './name.ts'
import { PluginSpec } from './plugin.ts'
import { ChoiceRule, ResearchBudget } from './research-journal.ts'
import { Stage } from './run-config.ts'
import { SecondaryMetric } from './task-file.ts'

/** The `research:` block of an experiment file. */
export const ResearchBlock = z.strictObject({
  space: z
    .record(Text, z.union([KnobSpec, z.array(z.unknown()).min(1)]))
    .default({})
    .describe(
      'Dotted path in the run -> what it may be: a list of values, or { kind: range, low, high }. Narrows or widens what the schemas of the plugins say.',
    ),
  transforms: z
    .array(PluginSpec)
    .default([])
    .describe('Transforms that may be put in; those that the file has may be left out where they are named here too.'),
  stages: z
    .array(Stage)
    .default([])
    .describe(
      'Stages that may be put at the end of `stages`, each with a recipe of another kind; the last one of the file may be left out where it is named here too.',
    ),
  derive: z
    .boolean()
    .default(true)
    .describe(
      'Also turns the numbers and choices that the schemas of the file’s plugins declare; false: `space` and `transforms` alone.',
    ),
  off_limits: z.array(Text).default([]).describe('Dotted paths that stay as they are, with all below them.'),
  scope: z
    .array(Text)
    .default([])
    .describe(
      'Plugin files below the folder of this file that a proposer may write, such as plugins/*.ts: those that are there, and new ones. They run in the sandbox of run workers.',
    ),
  priors: z
    .boolean()
    .default(true)
    .describe('Begins with what won in earlier experiments and sessions of the project with the same base model.'),
  budget: ResearchBudget.prefault({}).describe('Caps of a session; none: 20 experiments.'),
  proposer: PluginSpec.optional().describe('Who proposes; absent: hybrid with a key, else the optimizer.'),
  strategy: PluginSpec.optional().describe('Where the search continues; absent: default.'),
  keep_rule: PluginSpec.optional().describe('What is kept; absent: default.'),
  objective: ChoiceRule.optional().describe(
    'The choice at the end: the cheapest of what is within so much of the best. Absent: the best by the objective of the file.',
  ),
  secondary: z
    .array(SecondaryMetric)
    .default([])
    .describe('Metrics that must not get worse by more than their tolerance.'),
})
export type ResearchBlock = z.infer<typeof ResearchBlock>
