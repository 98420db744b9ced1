// What the answers of a batch were like, before any is left out.
import type { Batch, FwdBwd, Metrics } from '../../contracts/index.ts'
import { withoutUndefined } from '../../kernel/index.ts'
import { policySpan } from '../sequences/merge-turns.ts'
import { drawnTokens, mean, sumOf } from '../sequences/rollouts.ts'
import { isClipped, settingsOf } from './batch-loss.ts'
import { verifiedReward } from './compare-group.ts'
import type { DrawnBatch } from './draw-groups.ts'
import { sequenceOfDatum } from './policy-sequences.ts'
import type { RlParams } from './rl-params.ts'

/** `step`: the one that trains on them. */
export function rolloutMetrics({ groups, resampled }: DrawnBatch, step: number): Metrics {
  const answers = groups.flatMap((group) => group.answers)
  const rewards = answers.flatMap((answer) => verifiedReward(answer) ?? [])
  const truncated = answers.map((answer) => (answer.truncated === undefined ? 0 : 1))
  const lengths = answers.map(drawnTokens)
  const entropies = answers.flatMap(({ turns }) => turns.flatMap(({ tokens }) => [...(tokens?.logprobs ?? [])]))
  const span = policySpan(answers.flatMap(({ turns }) => turns))
  const count = (isCounted: (group: DrawnBatch['groups'][number]) => boolean) => groups.filter(isCounted).length
  return withoutUndefined({
    'group/count': groups.length,
    'group/constant': count(({ state }) => state === 'constant'),
    'group/dropped': count(({ state }) => state === 'dropped'),
    'group/partial': count(({ isPartial }) => isPartial),
    'group/resampled': resampled,
    'rollout/answers:sum': answers.length,
    'rollout/failed:sum': answers.filter(({ error, reward }) => error !== undefined || reward === undefined).length,
    'rollout/retried:sum': sumOf(groups.map(({ retried }) => retried)),
    'reward/mean': known(rewards, mean),
    'reward/std': known(rewards, deviation),
    'reward/max': known(rewards, greatest),
    'rollout/truncated_share': known(truncated, mean),
    'rollout/length_mean': known(lengths, mean),
    'rollout/length_max': known(lengths, greatest),
    'optim/entropy': known(entropies, (values) => -mean(values)),
    'policy/version_min': span?.min,
    'policy/version_max': span?.max,
    'policy/staleness': span === undefined ? undefined : step - span.min,
  })
}

function known(values: readonly number[], of: (values: readonly number[]) => number): number | undefined {
  return values.length === 0 ? undefined : of(values)
}

function deviation(values: readonly number[]): number {
  const middle = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)))
}

// Spread arguments are bounded; answers are not.
function greatest(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY)
}

// How far the weights in training are from those that answered, over the tokens that were trained on. q is the log-probability a
// token was drawn with, p the one that training found before the update.
export function trainingMetrics({ data }: Batch, { outputs }: FwdBwd, params: RlParams): Metrics {
  const config = settingsOf(params)
  let [tokens, first, second, clipped] = [0, 0, 0, 0]
  for (const [index, datum] of data.entries()) {
    const sequence = sequenceOfDatum(datum)
    const p_T = outputs[index]?.logprobs?.data
    if (sequence === undefined || p_T === undefined) continue
    for (const [position, p] of p_T.entries()) {
      const t = position + 1
      if (sequence.mask[t] !== 1) continue
      const q = sequence.logprobs[t] ?? 0
      tokens += 1
      first += q - p
      second += 0.5 * (q - p) ** 2
      if (isClipped(params.loss, config, { p, q, advantage: sequence.advantages[t] ?? 0 })) clipped += 1
    }
  }
  if (tokens === 0) return {}
  const hasBounds = params.loss === 'ppo' || params.loss === 'cispo'
  return withoutUndefined({
    'optim/kl_sample_train_v1': first / tokens,
    'optim/kl_sample_train_v2': second / tokens,
    'optim/clipped_share': hasBounds ? clipped / tokens : undefined,
  })
}
