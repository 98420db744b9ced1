// What the answers of a batch were like, before any is left out.
import type { Metrics, Trajectory } from '../../contracts/index.ts'
import { policySpan } from '../sequences/index.ts'
import type { Group } from './draw-groups.ts'

/** `step`: the one that trains on them. */
export function rolloutMetrics(groups: readonly Group[], step: number): Metrics {
  const answers = groups.flatMap((group) => group.answers)
  const rewards = answers.flatMap(({ reward }) => reward ?? [])
  const lengths = answers.map(drawnTokens)
  const logprobs = answers.flatMap(({ turns }) => turns.flatMap(({ tokens }) => [...(tokens?.logprobs ?? [])]))
  const span = policySpan(answers.flatMap(({ turns }) => turns))
  return {
    'rollout/answers:sum': answers.length,
    'rollout/failed:sum': answers.length - rewards.length,
    ...(rewards.length === 0
      ? {}
      : { 'reward/mean': mean(rewards), 'reward/std': deviation(rewards), 'reward/max': greatest(rewards) }),
    ...(answers.length === 0
      ? {}
      : {
          'rollout/truncated_share': mean(answers.map(({ truncated }) => (truncated === undefined ? 0 : 1))),
          'rollout/length_mean': mean(lengths),
          'rollout/length_max': greatest(lengths),
        }),
    ...(logprobs.length === 0 ? {} : { 'optim/entropy': -mean(logprobs) }),
    ...(span === undefined
      ? {}
      : { 'policy/version_min': span.min, 'policy/version_max': span.max, 'policy/staleness': step - span.min }),
  }
}

/** Tokens that the policy drew. */
export function drawnTokens({ turns }: Trajectory): number {
  return turns.reduce((sum, { tokens }) => sum + (tokens?.completion.length ?? 0), 0)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function deviation(values: readonly number[]): number {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}

// Spread arguments are bounded; answers are not.
function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
}
