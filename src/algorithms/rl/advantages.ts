// How much better an answer was than the other answers to its task. Group statistics stand in for a value function.
import * as z from 'zod'

export const AdvantageKind = z.enum(['mean', 'mean_std', 'leave_one_out', 'none'])
export type AdvantageKind = z.infer<typeof AdvantageKind>

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
