// What `rl` can be told.
import * as z from 'zod'
import type { HarborTask } from '../../contracts/index.ts'
import { guardParams } from '../guard-params.ts'
import { rolloutParams } from '../rollout-params.ts'
import { sharedParams } from '../shared-params.ts'
import { AdvantageKind } from './advantages.ts'
import { Curriculum } from './curriculum.ts'
import { impossibleParams } from './impossible-params.ts'
import { Normalisation } from './normalise.ts'
import { PolicyLoss } from './policy-losses.ts'

const answers = {
  batch_size: z.int().min(1).default(8).describe('Tasks per update; each is answered num_samples times.'),
  num_samples: z.int().min(1).max(1024).default(8).describe('Answers to each task: its group.'),
  max_tokens: z.int().min(1).default(256).describe('Longest answer of one turn, in tokens.'),
  temperature: z
    .number()
    .min(0)
    .default(1)
    .describe('Of sampling. At 1 answers are drawn from the very distribution that is trained.'),
  ...rolloutParams,
  n_concurrent: z
    .int()
    .min(1)
    .optional()
    .describe(
      'Answers that are drawn at a time. Absent: 64, or 8 where tasks are folders with an environment of their own.',
    ),
  rollout_timeout_s: z
    .number()
    .gt(0)
    .optional()
    .describe('Seconds after which an attempt is cut off; what it left is judged. Absent: an hour.'),
  max_retries: z
    .int()
    .min(0)
    .default(2)
    .describe('Times that an answer is drawn again which infrastructure ended; one that is wrong stays.'),
}

const groups = {
  advantage: AdvantageKind.default('mean').describe(
    'What a reward is compared with. mean: the mean of its group; mean_std: that, in units of the group’s deviation; leave_one_out: the mean of the others; none: nothing.',
  ),
  constant_groups: z
    .enum(['drop', 'resample', 'keep'])
    .default('drop')
    .describe(
      'Groups whose rewards do not differ, which teach nothing. drop: left out; resample: other tasks are answered in their place, max_resamples times; keep: trained on, for their KL penalty.',
    ),
  max_resamples: z
    .int()
    .min(1)
    .default(2)
    .describe('Rounds of other tasks in a batch, with constant_groups: resample.'),
  on_failure: z
    .enum(['mask_member', 'drop_group', 'fail'])
    .default('mask_member')
    .describe(
      'What becomes of an answer that infrastructure ended, after max_retries; it never counts as a wrong one. mask_member: its group goes on without it; drop_group: the group is left out; fail: the run fails.',
    ),
  min_group: z
    .int()
    .min(1)
    .optional()
    .describe('Fewest answers with a reward in a group that is trained on. Absent: 2, or 1 where nothing is compared.'),
  curriculum: Curriculum.prefault({}),
}

const rewards = {
  overlong: z
    .enum(['keep', 'mask', 'penalise'])
    .default('keep')
    .describe(
      'Answers that a limit cut off. keep: the verifier’s reward; mask: not trained on and not compared with; penalise: overlong_reward in its place.',
    ),
  overlong_reward: z.number().default(-0.1).describe('Reward of an answer that was cut off, with overlong: penalise.'),
  length_penalty: z
    .number()
    .min(0)
    .default(0)
    .describe(
      'Taken off the reward of an answer of max_tokens drawn tokens; of shorter and longer ones in proportion.',
    ),
  credit: z
    .enum(['trajectory', 'turn'])
    .default('trajectory')
    .describe(
      'Which turns a reward counts for. trajectory: all alike; turn: those that led to it, by rewards of turns where the attempt has them, and `discount`.',
    ),
  discount: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('What a reward is worth one turn earlier, with credit: turn. 1: as much.'),
  kl_coef: z.number().min(0).default(0).describe('Weight of the penalty for leaving the reference; 0: none.'),
  kl_in: z
    .enum(['reward', 'loss'])
    .default('reward')
    .describe(
      'Where the penalty goes. reward: tokens that are likelier than under the reference lose advantage, coef (mean - difference); loss: half the squared difference of log-probabilities, with a gradient of its own and one more forward pass.',
    ),
  kl_reference: z
    .enum(['start', 'base'])
    .default('start')
    .describe('The reference. start: the weights that the run began with; base: the base model as it came.'),
}

const updates = {
  loss: PolicyLoss.default('importance_sampling').describe(
    'Loss of the training protocol: importance_sampling, ppo (clipped ratio), cispo (clipped weight), dro (quadratic penalty).',
  ),
  loss_config: z
    .record(z.string(), z.number())
    .default({})
    .describe('Settings of the loss: clip_low_threshold, clip_high_threshold of ppo and cispo (ratios), beta of dro.'),
  normalise: Normalisation.default('token').describe(
    'What advantages are divided by, as losses are sums. token: the trained tokens of the batch; sequence: per sequence its tokens, and the number of sequences; trajectory: the same per attempt; none: 1.',
  ),
  num_substeps: z
    .int()
    .min(1)
    .default(1)
    .describe('Updates for each batch of rollouts: answers to the tasks of so many steps are drawn at once.'),
  max_steps_off_policy: z
    .int()
    .min(0)
    .default(0)
    .describe(
      'Batches of rollouts that may be drawn ahead, while training goes on. Step t trains on answers of the weights of step t less this; 0: strictly on-policy.',
    ),
}

export const RlParams = z
  .strictObject({
    ...sharedParams,
    learning_rate: z.number().min(0).default(3e-4).describe('Peak learning rate.'),
    ...answers,
    ...groups,
    ...rewards,
    ...updates,
    ...guardParams,
  })
  .superRefine((params, { addIssue }) => {
    for (const { path, message } of impossibleParams(params)) addIssue({ code: 'custom', path: [path], message })
  })
export type RlParams = z.output<typeof RlParams>

/** Answers that are drawn at a time. An engine computes many answers as fast as few; environments are processes. */
export function concurrencyOf({ n_concurrent }: RlParams, rows: readonly HarborTask[]): number {
  return n_concurrent ?? (rows.some(({ verifier }) => verifier.kind === 'e2b') ? 8 : 64)
}
