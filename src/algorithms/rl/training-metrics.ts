// How far the weights in training are from those that answered, over the tokens that were trained on. q is the log-probability a
// token was drawn with, p the one that training found before the update.
import type { Batch, FwdBwd, Metrics } from '../../contracts/index.ts'
import { settingsOf } from './batch-loss.ts'
import { isClipped } from './policy-losses.ts'
import type { RlParams } from './rl-params.ts'
import { sequenceOfDatum } from './trained-datum.ts'

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
  return {
    'optim/kl_sample_train_v1': first / tokens,
    'optim/kl_sample_train_v2': second / tokens,
    ...(hasBounds ? { 'optim/clipped_share': clipped / tokens } : {}),
  }
}
