// The reward of one answer as it is trained on: the verifier's, changed by what is wanted of lengths.
import type { Trajectory } from '../../contracts/index.ts'
import type { RlParams } from './rl-params.ts'

export type LengthParams = Pick<RlParams, 'overlong' | 'overlong_reward' | 'length_penalty' | 'max_tokens'>

/**
 * What the verifier gave. An attempt that failed by its own fault earns nothing. Undefined: infrastructure ended it, so that nobody
 * knows what it would have earned.
 */
export function verifiedReward({ reward, error }: Trajectory): number | undefined {
  if (reward !== undefined) return reward
  return error === undefined || error.infra ? undefined : 0
}

/** Undefined: the answer is neither trained on nor compared with. */
export function answerReward(answer: Trajectory, params: LengthParams): number | undefined {
  const { overlong, overlong_reward, length_penalty, max_tokens } = params
  const verified = verifiedReward(answer)
  if (verified === undefined) return undefined
  const isCut = answer.truncated !== undefined
  if (isCut && overlong === 'mask') return undefined
  const reward = isCut && overlong === 'penalise' ? overlong_reward : verified
  return length_penalty === 0 ? reward : reward - (length_penalty * drawnTokens(answer)) / max_tokens
}

/** Tokens that the policy drew. */
export function drawnTokens({ turns }: Trajectory): number {
  return turns.reduce((sum, { tokens }) => sum + (tokens?.completion.length ?? 0), 0)
}
