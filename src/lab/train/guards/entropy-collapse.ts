// The policy has become certain and nothing came of it. A policy that learns becomes certain as well: where the reward is better than
// at the start, that is what learning looks like. Without rewards nothing tells the two apart, and nothing is said.
import type { Guards } from '../../../algorithms/index.ts'
import { type Finding, windowsOf } from './finding.ts'
import { type GuardRow, seriesOf } from './guard-row.ts'
import { chanceDifference, shown } from './guard-statistics.ts'

export function entropyCollapse(rows: readonly GuardRow[], { share }: Guards['entropy_collapse']): Finding | undefined {
  const entropy = windowsOf(seriesOf(rows, 'optim/entropy'))
  const reward = windowsOf(seriesOf(rows, 'reward/mean'))
  if (entropy === undefined || reward === undefined) return undefined
  const { start, now, since } = entropy
  if (now >= share * start) return undefined
  const isBetter = reward.now - reward.start > chanceDifference(reward.values)
  if (isBetter) return undefined
  return {
    since,
    text: `the entropy of the policy fell from ${shown(start)} to ${shown(now)}, and its reward is no better (${shown(reward.start)} at the start, now ${shown(reward.now)})`,
  }
}
