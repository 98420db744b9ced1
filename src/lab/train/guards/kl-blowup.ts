// The policy moved further than learning does: from the weights that answered to those that are trained (off-policy steps, several
// updates of one batch, numbers that differ between sampler and trainer), or from the reference. How far the way from the
// reference may be depends on how certain the policy was: making a choice out of what it hesitated between takes about its entropy.
import type { Guards } from '../../../algorithms/index.ts'
import { beganAt, type Finding, lastOf } from './finding.ts'
import { type GuardedMetric, seriesOf, type Watched } from './guard-row.ts'
import { midmean, shown, WINDOW } from './guard-statistics.ts'

/** A blow-up is sudden and large: few steps are enough, and one is not. */
const STEPS = 3

export function klBlowup(
  watched: Watched,
  { limit, reference_limit, reference_times }: Guards['kl_blowup'],
): Finding | undefined {
  const sampled = above(watched, 'optim/kl_sample_train_v2', limit)
  if (sampled !== undefined) {
    return {
      since: sampled.since,
      text: `the trained weights were ${shown(sampled.value)} away from those that answered (KL; the limit is ${shown(limit)})`,
    }
  }
  const start = seriesOf(watched, 'optim/entropy').slice(0, WINDOW)
  const entropy = midmean(start.map(({ value }) => value))
  const most = Math.max(reference_limit, reference_times * entropy)
  const drifted = above(watched, 'optim/kl_reference', most)
  if (drifted === undefined) return undefined
  return {
    since: drifted.since,
    text: `the policy was ${shown(drifted.value)} nats per token away from its reference (the limit is ${shown(most)})`,
  }
}

// The least of the last steps: all of them are above.
function above(watched: Watched, metric: GuardedMetric, limit: number) {
  const series = seriesOf(watched, metric)
  const last = lastOf(series, watched, STEPS)
  if (last === undefined) return undefined
  const value = Math.min(...last.values)
  return value <= limit ? undefined : { since: beganAt(series, last.since, (each) => each > limit), value }
}
