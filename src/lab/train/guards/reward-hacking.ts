// The reward rises while a verifier that it does not use falls: the policy learns what the reward measures, and not what it means.
// What is usual first is that both rise; so the last steps are compared with the best that the held-out verifier has seen.
import type { Guards } from '../../../algorithms/index.ts'
import type { Finding } from './finding.ts'
import type { GuardRow } from './guard-row.ts'
import { chanceDifference, midmean, shown, WINDOW } from './guard-statistics.ts'

export function rewardHacking(rows: readonly GuardRow[], { drop }: Guards['reward_hacking']): Finding | undefined {
  const both = rows.flatMap(({ step, values }) => {
    const { 'reward/mean': reward, 'heldout/mean': heldOut } = values
    return reward === undefined || heldOut === undefined ? [] : [{ step, reward, heldOut }]
  })
  const last = both.slice(-WINDOW)
  const [first] = last
  if (both.length < 2 * WINDOW || first === undefined) return undefined
  const best = bestOf(blocksOf(both.slice(0, -WINDOW)))
  if (best === undefined) return undefined
  const now = meansOf(last)
  const fall = best.heldOut - now.heldOut
  const rise = now.reward - best.reward
  const leastFall = Math.max(chanceDifference(both.map(({ heldOut }) => heldOut)), drop * Math.abs(best.heldOut))
  if (fall <= leastFall || rise <= chanceDifference(both.map(({ reward }) => reward))) return undefined
  return {
    since: first.step,
    text: `the reward rose from ${shown(best.reward)} to ${shown(now.reward)} while the held-out verifier fell from ${shown(best.heldOut)} to ${shown(now.heldOut)}`,
  }
}

interface Scores {
  readonly reward: number
  readonly heldOut: number
}

function meansOf(rows: readonly Scores[]): Scores {
  return { reward: midmean(rows.map(({ reward }) => reward)), heldOut: midmean(rows.map(({ heldOut }) => heldOut)) }
}

/** Whole windows one after the other, from the start. */
function blocksOf(rows: readonly Scores[]): Scores[] {
  return Array.from({ length: Math.floor(rows.length / WINDOW) }, (_, i) =>
    meansOf(rows.slice(i * WINDOW, (i + 1) * WINDOW)),
  )
}

function bestOf(blocks: readonly Scores[]): Scores | undefined {
  return blocks.reduce<Scores | undefined>(
    (best, each) => (best === undefined || each.heldOut > best.heldOut ? each : best),
    undefined,
  )
}
