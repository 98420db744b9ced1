// What `rl` can be told.
import * as z from 'zod'
import { sharedParams } from '../shared-params.ts'
import { AdvantageKind } from './advantages.ts'

export const RlParams = z.strictObject({
  ...sharedParams,
  batch_size: z.int().min(1).default(8).describe('Tasks per batch; each is answered num_samples times.'),
  num_samples: z.int().min(1).max(1024).default(8).describe('Answers to each task: its group.'),
  max_tokens: z.int().min(1).default(256).describe('Longest answer of one turn, in tokens.'),
  temperature: z
    .number()
    .min(0)
    .default(1)
    .describe('Of sampling. At 1 answers are drawn from the very distribution that is trained.'),
  system_prompt: z
    .string()
    .optional()
    .describe('Put before the task’s instruction. An agent that the run names has its own.'),
  user_template: z.string().min(1).default('{prompt}').describe('Wraps the instruction: `{prompt}` is replaced.'),
  agent_import_path: z
    .string()
    .min(1)
    .optional()
    .describe('Agent that answers: a kind, or an export of a file as `./agent.ts#Name`. `agent` of the run wins.'),
  n_concurrent: z.int().min(1).default(8).describe('Answers that are drawn at a time.'),
  advantage: AdvantageKind.default('mean').describe(
    'What a reward is compared with. mean: that of its group; mean_std: the same, divided by the group’s deviation; leave_one_out: the mean of the others; none: nothing.',
  ),
})
export type RlParams = z.output<typeof RlParams>
