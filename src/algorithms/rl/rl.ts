// Reinforcement learning from verified rewards: the policy answers each task several times, and answers that earned more than their
// group become likelier, token by token, at the cost of those that earned less.
import type { StepContext } from '../../contracts/index.ts'
import { defineAlgorithm } from '../../kernel/index.ts'
import { advantagesOf } from './advantages.ts'
import { drawGroups, type Group } from './draw-groups.ts'
import { policySequences } from './policy-sequences.ts'
import { RlParams } from './rl-params.ts'
import { rolloutMetrics } from './rollout-metrics.ts'
import { trainedDatum } from './trained-datum.ts'
import { trainingMetrics } from './training-metrics.ts'

/** Trains on the policy’s own answers by the rewards that their tasks’ verifiers give. */
export const rl = defineAlgorithm({
  kind: 'rl',
  summary:
    'Reinforcement learning: groups of the policy’s own answers to tasks, trained on by how they compare in reward.',
  params: RlParams,
  rowFormat: 'harbor_task',
  async buildBatch(context) {
    const { params, step } = context
    const groups = await groupsOf(context)
    const compared = groups.map((group) => {
      const members = group.answers.flatMap((answer) =>
        answer.reward === undefined ? [] : [{ answer, reward: answer.reward }],
      )
      const advantages = advantagesOf(
        members.map(({ reward }) => reward),
        params.advantage,
      )
      return members.map(({ answer }, i) => ({ answer, advantage: advantages[i] ?? 0 }))
    })
    const kept = compared.filter((members) => members.some(({ advantage }) => advantage !== 0))
    const sequences = kept.flat().flatMap(({ answer, advantage }) => policySequences(answer, advantage))
    const data = sequences.flatMap((sequence) => trainedDatum(sequence) ?? [])
    return {
      data,
      loss: { name: 'importance_sampling' },
      metrics: {
        ...rolloutMetrics(groups, step),
        'group/count': groups.length,
        'group/constant': groups.length - kept.length,
        'data/sequences': data.length,
        'data/tokens': data.reduce((sum, { tokens }) => sum + tokens.length, 0),
        'data/supervised_tokens': sequences.reduce((sum, { trained }) => sum + trained, 0),
      },
    }
  },
  stepMetrics: ({ built, result }) => trainingMetrics(built, result),
})

async function groupsOf(context: StepContext<RlParams, 'harbor_task'>): Promise<Group[]> {
  const { params, step, batch, agent } = context
  const policy = { weights: await context.policy(), version: step }
  return await drawGroups(context, batch(params.batch_size), { params, policy, agent })
}
