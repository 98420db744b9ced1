// What the answers of a batch were like, before any is left out.
import type { Metrics } from '../../contracts/index.ts'
import { policySpan } from '../sequences/index.ts'
import { drawnTokens, verifiedReward } from './answer-reward.ts'
import type { DrawnBatch } from './draw-batch.ts'

/** `step`: the one that trains on them. */
export function rolloutMetrics({ groups, resampled }: DrawnBatch, step: number): Metrics {
  const answers = groups.flatMap((group) => group.answers)
  const rewards = answers.flatMap((answer) => verifiedReward(answer) ?? [])
  const lengths = answers.map(drawnTokens)
  const entropies = answers.flatMap(({ turns }) => turns.flatMap(({ tokens }) => [...(tokens?.logprobs ?? [])]))
  const span = policySpan(answers.flatMap(({ turns }) => turns))
  const count = (isCounted: (group: DrawnBatch['groups'][number]) => boolean) => groups.filter(isCounted).length
  return {
    'group/count': groups.length,
    'group/constant': count(({ state }) => state === 'constant'),
    'group/dropped': count(({ state }) => state === 'dropped'),
    'group/partial': count(({ isPartial }) => isPartial),
    'group/resampled': resampled,
    'rollout/answers:sum': answers.length,
    'rollout/failed:sum': answers.length - rewards.length,
    'rollout/retried:sum': groups.reduce((sum, { retried }) => sum + retried, 0),
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
    ...(entropies.length === 0 ? {} : { 'optim/entropy': -mean(entropies) }),
    ...(span === undefined
      ? {}
      : { 'policy/version_min': span.min, 'policy/version_max': span.max, 'policy/staleness': step - span.min }),
  }
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
