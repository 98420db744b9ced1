// How far the weights in training are from those that answered, over the tokens that were trained on. q is the log-probability a
// token was drawn with, p the one that training found before the update.
import type { Batch, FwdBwd, Metrics } from '../../contracts/index.ts'
import { sequenceOfDatum } from './trained-datum.ts'

export function trainingMetrics({ data }: Batch, { outputs }: FwdBwd): Metrics {
  let tokens = 0
  let first = 0
  let second = 0
  for (const [index, datum] of data.entries()) {
    const sequence = sequenceOfDatum(datum)
    const trained_T = outputs[index]?.logprobs?.data
    if (sequence === undefined || trained_T === undefined) continue
    for (const [t, p] of trained_T.entries()) {
      if (sequence.mask[t + 1] !== 1) continue
      const difference = (sequence.logprobs[t + 1] ?? 0) - p
      tokens += 1
      first += difference
      second += 0.5 * difference * difference
    }
  }
  if (tokens === 0) return {}
  return { 'optim/kl_sample_train_v1': first / tokens, 'optim/kl_sample_train_v2': second / tokens }
}
