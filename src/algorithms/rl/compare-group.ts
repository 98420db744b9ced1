// The answers of one group set against each other, and whether they are trained on.
import type { Trajectory } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { answerReward, verifiedReward } from './answer-reward.ts'
import type { Group } from './draw-groups.ts'
import type { RlParams } from './rl-params.ts'
import { turnAdvantages } from './turn-returns.ts'

export interface ComparedGroup extends Group {
  /** Answers that were compared, with an advantage for each turn. */
  readonly members: readonly { readonly answer: Trajectory; readonly advantages: readonly number[] }[]
  /** `constant`: its answers teach nothing. `dropped`: too few of them have a reward. */
  readonly state: 'useful' | 'constant' | 'dropped'
  /** Infrastructure ended some of its answers. */
  readonly isPartial: boolean
}

export function compareGroup(group: Group, params: RlParams): ComparedGroup {
  const { advantage, on_failure, min_group = advantage === 'none' ? 1 : Math.min(2, params.num_samples) } = params
  const failed = group.answers.filter((answer) => verifiedReward(answer) === undefined)
  const [first] = failed
  if (first !== undefined && on_failure === 'fail') throw failure(group, first)
  const compared = group.answers.flatMap((answer) => {
    const reward = answerReward(answer, params)
    return reward === undefined ? [] : [{ answer, reward }]
  })
  const isPartial = failed.length > 0
  if (compared.length < min_group || (isPartial && on_failure === 'drop_group')) {
    return { ...group, members: [], state: 'dropped', isPartial }
  }
  const advantages_G = turnAdvantages(
    compared.map(({ answer: { turns, turnRewards }, reward }) => ({
      ...{ reward, turns: turns.length },
      ...(turnRewards === undefined ? {} : { turnRewards }),
    })),
    params,
  )
  const members = compared.map(({ answer }, g) => ({ answer, advantages: advantages_G[g] ?? [] }))
  const isUseful = advantages_G.some((advantages) => advantages.some((value) => value !== 0))
  return { ...group, members, state: isUseful ? 'useful' : 'constant', isPartial }
}

function failure({ task }: Group, { error, sample }: Trajectory): EvsysError {
  return new EvsysError(
    error?.code ?? 'PLUGIN_FAILED',
    `rl: answer ${sample} to task "${task.task_id}" has no reward: ${error?.message ?? 'nothing was scored'}`,
    { fix: error?.fix ?? 'with on_failure: mask_member its group goes on without it.' },
  )
}
