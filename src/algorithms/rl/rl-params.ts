// The params of `rl`, and which of them make no sense together.
import * as z from 'zod'
import type { HarborTask } from '../../contracts/index.ts'
import { guardParams, rolloutParams } from '../params/guard-params.ts'
import { count, nonNegative, positive, share, sharedParams, wholeNumber } from '../params/shared-params.ts'

export const AdvantageKind = z.enum(['mean', 'mean_std', 'leave_one_out', 'none'])
export type AdvantageKind = z.infer<typeof AdvantageKind>

export const Normalisation = z.enum(['token', 'sequence', 'trajectory', 'none'])
export type Normalisation = z.infer<typeof Normalisation>

export const PolicyLoss = z.enum(['importance_sampling', 'ppo', 'cispo', 'dro'])
export type PolicyLoss = z.infer<typeof PolicyLoss>

/** Settings of each loss. They are always sent: services differ in their defaults. */
export const lossDefaults: Readonly<Record<PolicyLoss, Readonly<Record<string, number>>>> = {
  importance_sampling: {},
  ppo: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
  cispo: { clip_low_threshold: 0, clip_high_threshold: 4 },
  dro: { beta: 0.05 },
}

export const Curriculum = z
  .strictObject({
    kind: z
      .enum(['uniform', 'success_rate'])
      .default('uniform')
      .describe(
        'uniform: every task once per epoch; success_rate: tasks are drawn by how open their outcome was, untried ones first.',
      )
      .meta({ search: { area: 'data' } }),
    explore: positive
      .max(1)
      .default(0.1)
      .describe('Least weight of a task, against 1 for one that is solved half the time, with success_rate.'),
    memory: nonNegative
      .lt(1)
      .default(0.5)
      .describe('Share of what was known of a task that its next group leaves, with success_rate.'),
  })
  .describe('Which tasks a step trains on. What success_rate knows of tasks begins anew after a resume or a roll-back.')
export type Curriculum = z.infer<typeof Curriculum>

const answers = {
  batch_size: count
    .default(8)
    .describe('Tasks per update; each is answered num_samples times.')
    .meta({ search: { values: [4, 8, 16, 32], area: 'optimizer' } }),
  num_samples: count
    .max(1024)
    .default(8)
    .describe('Answers to each task: its group.')
    .meta({ search: { values: [4, 8, 16], area: 'sampling' } }),
  max_tokens: count
    .default(256)
    .describe('Longest answer of one turn, in tokens.')
    .meta({ search: { off: 'it says what a training costs: name it in `space`' } }),
  temperature: nonNegative
    .default(1)
    .describe('Of sampling. At 1 answers are drawn from the very distribution that is trained.')
    .meta({ search: { from: 0.6, to: 1.2, area: 'sampling' } }),
  ...rolloutParams,
  n_concurrent: count
    .optional()
    .describe(
      'Answers that are drawn at a time. Absent: 64, or 8 where tasks are folders with a separate environment.',
    ),
  rollout_timeout_s: positive
    .optional()
    .describe('Seconds after which an attempt is cut off; what it left is scored. Absent: an hour.'),
  max_retries: wholeNumber
    .default(2)
    .describe('Times that an answer is drawn again which infrastructure ended; one that is wrong stays.'),
}

const groups = {
  advantage: AdvantageKind.default('mean')
    .describe(
      'What a reward is compared with. mean: the mean of its group; mean_std: that, in units of the group’s deviation; leave_one_out: the mean of the others; none: nothing.',
    )
    .meta({ search: { values: ['mean', 'mean_std', 'leave_one_out'], area: 'reward' } }),
  constant_groups: z
    .enum(['drop', 'resample', 'keep'])
    .default('drop')
    .describe(
      'Groups whose rewards do not differ, which teach nothing. drop: left out; resample: other tasks are answered in their place, max_resamples times; keep: trained on, for their KL penalty.',
    ),
  max_resamples: count.default(2).describe('Rounds of other tasks in a batch, with constant_groups: resample.'),
  on_failure: z
    .enum(['mask_member', 'drop_group', 'fail'])
    .default('mask_member')
    .describe(
      'What becomes of an answer that infrastructure ended, after max_retries; it never counts as a wrong one. mask_member: its group is trained without it; drop_group: the group is left out; fail: the run fails.',
    ),
  min_group: count
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
  length_penalty: nonNegative
    .default(0)
    .describe('Taken off the reward of an answer of max_tokens drawn tokens; of shorter and longer ones in proportion.')
    .meta({ search: { values: [0, 0.05, 0.1, 0.2], area: 'reward' } }),
  credit: z
    .enum(['trajectory', 'turn'])
    .default('trajectory')
    .describe(
      'Which turns a reward counts for. trajectory: all alike; turn: those that led to it, by rewards of turns where the attempt has them, and `discount`.',
    ),
  discount: share.default(1).describe('What a reward is worth one turn earlier, with credit: turn. 1: as much.'),
  kl_coef: nonNegative
    .default(0)
    .describe('Weight of the penalty for leaving the reference; 0: none.')
    .meta({ search: { values: [0, 0.001, 0.01, 0.1], area: 'reward' } }),
  kl_in: z
    .enum(['reward', 'loss'])
    .default('reward')
    .describe(
      'Where the penalty goes. reward: tokens that are likelier than under the reference lose advantage, coef (mean - difference); loss: half the squared difference of log-probabilities, with a separate gradient and one more forward pass.',
    ),
  kl_reference: z
    .enum(['start', 'base'])
    .default('start')
    .describe('The reference. start: the weights that the run began with; base: the base model as it came.'),
}

const updates = {
  loss: PolicyLoss.default('importance_sampling')
    .describe(
      'Loss of the training protocol: importance_sampling, ppo (clipped ratio), cispo (clipped weight), dro (quadratic penalty).',
    )
    .meta({ search: { values: ['importance_sampling', 'ppo', 'cispo'], area: 'algorithm' } }),
  loss_config: z
    .record(z.string(), z.number())
    .default({})
    .describe('Settings of the loss: clip_low_threshold, clip_high_threshold of ppo and cispo (ratios), beta of dro.'),
  normalise: Normalisation.default('token')
    .describe(
      'What advantages are divided by, as losses are sums. token: the trained tokens of the batch; sequence: per sequence its tokens, and the number of sequences; trajectory: the same per attempt; none: 1.',
    )
    .meta({ search: { values: ['token', 'sequence', 'trajectory'], area: 'reward' } }),
  num_substeps: count
    .default(1)
    .describe('Updates for each batch of rollouts: answers to the tasks of so many steps are drawn at once.'),
  max_steps_off_policy: wholeNumber
    .default(0)
    .describe(
      'Batches of rollouts that may be drawn ahead, while training continues. Step t trains on answers of the weights of step t less this; 0: strictly on-policy.',
    ),
}

const learning_rate = nonNegative
  .default(3e-4)
  .describe('Peak learning rate.')
  .meta({ search: { from: 1e-5, to: 3e-3, scale: 'log', area: 'optimizer' } })
const Fields = z.strictObject({
  ...sharedParams,
  learning_rate,
  ...answers,
  ...groups,
  ...rewards,
  ...updates,
  ...guardParams,
})

export const RlParams = Fields.superRefine((params, { addIssue }) => {
  for (const { path, message } of impossibleParams(params)) addIssue({ code: 'custom', path: [path], message })
})
export type RlParams = z.output<typeof RlParams>

/** Answers that are drawn at a time. An engine computes many answers as fast as few; environments are processes. */
export function concurrencyOf({ n_concurrent }: RlParams, rows: readonly HarborTask[]): number {
  return n_concurrent ?? (rows.some(({ verifier }) => verifier.kind === 'e2b') ? 8 : 64)
}

// Params under which no step could learn anything, found before a run starts. A group whose answers cannot differ has no advantages.
/** Everything that is wrong, with its fix. */
function impossibleParams(params: z.output<typeof Fields>): { path: string; message: string }[] {
  const { num_samples, temperature, advantage, constant_groups, kl_coef, min_group, loss, loss_config } = params
  const found: { path: string; message: string }[] = []
  const refuse = (path: keyof typeof params, message: string) => found.push({ path, message })
  const hasPenalty = kl_coef > 0 && constant_groups === 'keep'
  if (num_samples === 1 && advantage !== 'none' && !hasPenalty) {
    const lone = `a group of one answer has nothing to be compared with (advantage: ${advantage})`
    const fix = 'raise num_samples to 2 or more, or write advantage: none'
    refuse('num_samples', `${lone}, so nothing would be trained on: ${fix}`)
  }
  if (temperature === 0) {
    const same = 'at temperature 0 all answers to a task are the same'
    refuse('temperature', `${same}, so nothing would be trained on: raise it, 1 is usual`)
  }
  if (min_group !== undefined && min_group > num_samples) {
    const few = `a group has ${num_samples} answers, so none would be trained on`
    refuse('min_group', `${few}: lower min_group or raise num_samples`)
  }
  if (constant_groups === 'keep' && kl_coef === 0 && advantage !== 'none') {
    const nothing = 'without a KL penalty there is nothing to learn from a constant group'
    refuse('constant_groups', `${nothing}: write drop, or set kl_coef`)
  }
  if (params.discount !== 1 && params.credit !== 'turn') refuse('discount', 'a discount needs credit: turn')
  const known = Object.keys(lossDefaults[loss])
  for (const key of Object.keys(loss_config).filter((each) => !known.includes(each))) {
    const fix = known.length === 0 ? 'leave it out' : `it has ${known.join(' and ')}`
    refuse('loss_config', `${loss} has no setting "${key}": ${fix}`)
  }
  return found
}
