// The answers of one group set against each other, and whether they are trained on.
import type { HarborTask, Trajectory } from '../../contracts/index.ts'
import { EvsysError } from '../../kernel/index.ts'
import { drawnTokens } from '../sequences/rollouts.ts'
import type { AdvantageKind, RlParams } from './rl-params.ts'

export interface Group {
  readonly task: HarborTask
  readonly answers: readonly Trajectory[]
  /** Attempts that infrastructure ended and that were made again. */
  readonly retried: number
}

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
  const attempts = compared.map(({ answer: { turns, turnRewards }, reward }) => ({
    reward,
    turns: turns.length,
    turnRewards,
  }))
  const advantages_G = turnAdvantages(attempts, params)
  const members = compared.map(({ answer }, g) => ({ answer, advantages: advantages_G[g] ?? [] }))
  const isUseful = advantages_G.some((advantages) => advantages.some((value) => value !== 0))
  return { ...group, members, state: isUseful ? 'useful' : 'constant', isPartial }
}

function failure({ task }: Group, { error, sample }: Trajectory): EvsysError {
  return new EvsysError(
    error?.code ?? 'PLUGIN_FAILED',
    `rl: answer ${sample} to task "${task.task_id}" has no reward: ${error?.message ?? 'nothing was scored'}`,
    { fix: error?.fix ?? 'with on_failure: mask_member its group is trained without it.' },
  )
}

// The reward of one answer as it is trained on: the verifier's, changed by what is wanted of lengths.
type LengthParams = Pick<RlParams, 'overlong' | 'overlong_reward' | 'length_penalty' | 'max_tokens'>

/**
 * What the verifier gave. An attempt that failed by its own fault earns nothing. Undefined: infrastructure ended it, so that what it
 * would have earned is unknown.
 */
export function verifiedReward({ reward, error }: Trajectory): number | undefined {
  if (reward !== undefined) return reward
  return error === undefined || error.infra ? undefined : 0
}

/** Undefined: the answer is neither trained on nor compared with. */
function answerReward(answer: Trajectory, params: LengthParams): number | undefined {
  const { overlong, overlong_reward, length_penalty, max_tokens } = params
  const verified = verifiedReward(answer)
  if (verified === undefined) return undefined
  const isCut = answer.truncated !== undefined
  if (isCut && overlong === 'mask') return undefined
  const reward = isCut && overlong === 'penalise' ? overlong_reward : verified
  return length_penalty === 0 ? reward : reward - (length_penalty * drawnTokens(answer)) / max_tokens
}

// Which turns of an attempt a reward counts for.
interface Attempt {
  /** Of the whole attempt. */
  readonly reward: number
  /** Turns of the policy. */
  readonly turns: number
  /** What turns earned by themselves, in order; turns beyond its end earned nothing. */
  readonly turnRewards?: readonly number[] | undefined
}

type CreditOptions = Pick<RlParams, 'advantage' | 'credit' | 'discount'>

/** For each attempt of a group the advantage of every turn. */
export function turnAdvantages(group: readonly Attempt[], { advantage, credit, discount }: CreditOptions): number[][] {
  if (credit === 'trajectory') {
    const rewards_G = group.map(({ reward }) => reward)
    const advantages_G = advantagesOf(rewards_G, advantage)
    return group.map(({ turns }, g) => Array.from({ length: turns }, () => advantages_G[g] ?? 0))
  }
  const returns_G = group.map((attempt) => turnReturns(attempt, discount))
  const longest = returns_G.reduce((most, returns) => Math.max(most, returns.length), 0)
  const advantages_G = returns_G.map((): number[] => [])
  for (let turn = 0; turn < longest; turn++) {
    // Turns are compared with the same turn of the others; an attempt that was over by then stays with what its last turn brought.
    const rewards_G = returns_G.map((returns) => returns[Math.min(turn, returns.length - 1)] ?? 0)
    const compared = advantagesOf(rewards_G, advantage)
    for (const [g, returns] of returns_G.entries()) {
      if (turn < returns.length) advantages_G[g]?.push(compared[g] ?? 0)
    }
  }
  return advantages_G
}

/** What came after each turn, itself included: G_i = r_i + discount G_(i+1). The reward of the whole comes with the last turn. */
export function turnReturns({ reward, turns, turnRewards = [] }: Attempt, discount: number): number[] {
  const returns: number[] = new Array(turns).fill(0)
  let later = 0
  for (let turn = turns - 1; turn >= 0; turn--) {
    later = (turnRewards[turn] ?? 0) + (turn === turns - 1 ? reward : discount * later)
    returns[turn] = later
  }
  return returns
}

// How much better an answer was than the other answers to its task. Group statistics stand in for a value function.
/**
 * Advantages of the rewards of one group, in order:
 *   mean           r - mean(r)
 *   mean_std       (r - mean(r)) / std(r)                   (GRPO, Shao et al. 2024)
 *   leave_one_out  r - mean of the others                   (RLOO, Ahmadian et al. 2024)
 *   none           r
 * All but `none` sum to 0, are 0 for a group of equal rewards, and do not change when every reward is raised alike.
 */
export function advantagesOf(rewards_G: readonly number[], kind: AdvantageKind): number[] {
  if (kind === 'none') return [...rewards_G]
  // Rounding must not make advantages of equal rewards.
  if (isConstant(rewards_G)) return rewards_G.map(() => 0)
  const size = rewards_G.length
  const mean = rewards_G.reduce((sum, reward) => sum + reward, 0) / size
  const centred_G = rewards_G.map((reward) => reward - mean)
  if (kind === 'mean') return centred_G
  // r - (sum - r) / (n - 1) = (r - mean) n / (n - 1)
  if (kind === 'leave_one_out') return centred_G.map((value) => (value * size) / (size - 1))
  const std = Math.sqrt(centred_G.reduce((sum, value) => sum + value * value, 0) / size)
  return centred_G.map((value) => value / std)
}

/** Rewards that differ by rounding alone, which mean_std would make as large as any other difference. */
function isConstant(values: readonly number[]): boolean {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)]
  const size = Math.max(Math.abs(least), Math.abs(most))
  return most - least <= Math.max(1e-12 * size, 1e-100)
}
