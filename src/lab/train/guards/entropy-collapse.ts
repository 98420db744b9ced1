// The policy has become certain and nothing came of it. A policy that learns becomes certain as well: where the reward is better than
// it was, that is what learning looks like. Without rewards nothing tells the two apart, and nothing is said.
import type { Guards } from '../../../algorithms/index.ts'
import { beganAt, type Finding, windowsOf } from './finding.ts'
import { seriesOf, type Watched } from './guard-row.ts'
import { chanceDifference, shown } from './guard-statistics.ts'

/** Nats per token: a policy that began with less was certain from the start. */
const LEAST_ENTROPY = 0.05

export function entropyCollapse(watched: Watched, { share }: Guards['entropy_collapse']): Finding | undefined {
  const entropy = windowsOf(seriesOf(watched, 'optim/entropy'), watched)
  const reward = windowsOf(seriesOf(watched, 'reward/mean'), watched)
  if (entropy === undefined || reward === undefined) return undefined
  const { now, series, since } = entropy
  const start = Math.max(...entropy.first) // one that collapses at once does so within them
  if (start < LEAST_ENTROPY || now >= share * start) return undefined
  // The worst of the first steps: what is learnt at once is learnt within them.
  const worst = Math.min(...reward.first)
  if (reward.now - worst > chanceDifference(reward.values)) return undefined
  return {
    since: beganAt(series, since, (value) => value < share * start),
    text: `the entropy of the policy fell from ${shown(start)} to ${shown(now)}, and its reward is no better (${shown(reward.start)} at the start, now ${shown(reward.now)})`,
  }
}
