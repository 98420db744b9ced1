// What recipes that roll out take besides: guards against the ways in which a policy that trains on its own answers goes wrong, and a
// verifier that the reward does not use. A recipe adds them: `z.strictObject({ ...sharedParams, ...guardParams })`. The loop reads
// these, the recipe need not; it reports the metrics that the guards read.
import * as z from 'zod'
import { GuardAction, pluginReference } from '../../contracts/index.ts'
import { nonEmpty, positive } from './shared-params.ts'

const Action = z.enum([...GuardAction.options, 'off'])

const action = (usual: z.infer<typeof Action>) =>
  Action.default(usual).describe(
    '`record`: reported, and training continues. `roll_back`: back to an earlier checkpoint, at half the rate; after the third time the run stops. `stop`: the run ends and keeps its best checkpoint. `off`: not checked.',
  )

// Each compares the last steps with the run’s own start.
const entropyCollapse = (usual: z.infer<typeof Action>) =>
  z
    .strictObject({
      action: action(usual),
      share: positive
        .lt(1)
        .default(0.05)
        .describe('Share of the entropy at the start of the run below which it has collapsed.'),
    })
    .prefault({})
    .describe(
      'The policy has become certain, and its reward is no better than at the start (optim/entropy, reward/mean).',
    )

/** Settings of the guards. */
export const Guards = z.strictObject({
  entropy_collapse: entropyCollapse('roll_back'),
  kl_blowup: z
    .strictObject({
      action: action('roll_back'),
      limit: positive
        .default(0.5)
        .describe('Largest optim/kl_sample_train_v2: how far the trained weights may be from those that answered.'),
      reference_limit: positive
        .default(2)
        .describe('Least optim/kl_reference, in nats per token, that can be too much.'),
      reference_times: positive
        .default(4)
        .describe('It is too much above this many times the entropy at the start of the run.'),
    })
    .prefault({})
    .describe('An update, or the way from the reference, was too large to be learning.'),
  reward_hacking: z
    .strictObject({
      action: action('stop'),
      drop: positive
        .max(1)
        .default(0.1)
        .describe('Share of its best that heldout/mean has to lose, beyond noise, while reward/mean rises.'),
    })
    .prefault({})
    .describe('The reward rises while the held-out verifier falls: needs `held_out_verifier`.'),
  length_explosion: z
    .strictObject({
      action: action('record'),
      times: z
        .number()
        .gt(1)
        .default(4)
        .describe('How many times as long as at the start of the run answers may become (rollout/length_mean).'),
    })
    .prefault({})
    .describe('Answers have become far longer than at the start.'),
})
export type Guards = z.infer<typeof Guards>

/** Fields of a params schema of a recipe that rolls out. */
export const guardParams = {
  guards: Guards.prefault({}).describe('Notices when the policy goes wrong, and what then happens.'),
  held_out_verifier: pluginReference('verifier')
    .optional()
    .describe(
      'Verifier that also scores every rollout and that the reward does not use: heldout/mean. It is given what the task expects.',
    ),
}

/** The same for a recipe that learns from a teacher: one that is certain makes the policy certain. */
export const taughtGuardParams = {
  ...guardParams,
  guards: Guards.extend({ entropy_collapse: entropyCollapse('record') })
    .prefault({})
    .describe('Notices when the policy goes wrong, and what then happens.'),
}

/** The guards and the held-out verifier of any recipe; without guards it is not watched. */
export const GuardParams = z.object({
  guards: Guards.optional(),
  held_out_verifier: guardParams.held_out_verifier,
})
export type GuardParams = z.infer<typeof GuardParams>

/** Fields of a params schema: which agent answers, and how a task is put to it. */
export const rolloutParams = {
  system_prompt: z
    .string()
    .optional()
    .describe('Put before the task’s instruction. An agent that the run names has its own.'),
  user_template: nonEmpty.default('{prompt}').describe('Wraps the instruction: `{prompt}` is replaced.'),
  agent_import_path: nonEmpty
    .optional()
    .describe('Agent that answers: a kind, or an export of a file as `./agent.ts#Name`. `agent` of the run wins.'),
}
