// The reward rises while a verifier that it does not use falls: the policy learns what the reward measures, and not what it means.
// What is usual first is that both rise; so the last steps are compared with the best that the held-out verifier has seen.
import type { Guards } from '../../../algorithms/index.ts'
import type { Finding } from './finding.ts'
import type { Watched } from './guard-row.ts'
import { chanceDifference, midmean, shown, WINDOW } from './guard-statistics.ts'

export function rewardHacking({ rows, after }: Watched, { drop }: Guards['reward_hacking']): Finding | undefined {
  const both = rows.flatMap(({ step, values }) => {
    const { 'reward/mean': reward, 'heldout/mean': heldOut } = values
    return reward === undefined || heldOut === undefined ? [] : [{ step, reward, heldOut }]
  })
  const last = both.slice(-WINDOW)
  const [first] = last
  const isNew = first !== undefined && first.step > after && last.at(-1)?.step === rows.at(-1)?.step
  if (!isNew || both.length < 2 * WINDOW) return undefined
  const best = bestOf(blocksOf(both.slice(0, -WINDOW)))
  if (best === undefined) return undefined
  const now = meansOf(last)
  const fall = best.heldOut - now.heldOut
  const rise = now.reward - best.reward
  const leastFall = Math.max(chanceDifference(both.map(({ heldOut }) => heldOut)), drop * Math.abs(best.heldOut))
  if (fall <= leastFall || rise <= chanceDifference(both.map(({ reward }) => reward))) return undefined
  return {
    since: best.end + 1, // it has been falling since then
    text: `the reward rose from ${shown(best.reward)} to ${shown(now.reward)} while the held-out verifier fell from ${shown(best.heldOut)} to ${shown(now.heldOut)}`,
  }
}

interface Scores {
  readonly reward: number
  readonly heldOut: number
}

interface Block extends Scores {
  /** Its last step. */
  readonly end: number
}

function meansOf(rows: readonly (Scores & { readonly step: number })[]): Block {
  return {
    reward: midmean(rows.map(({ reward }) => reward)),
    heldOut: midmean(rows.map(({ heldOut }) => heldOut)),
    end: rows.at(-1)?.step ?? -1,
  }
}

/** Whole windows one after the other, from the start. */
function blocksOf(rows: Parameters<typeof meansOf>[0]): Block[] {
  return Array.from({ length: Math.floor(rows.length / WINDOW) }, (_, i) =>
    meansOf(rows.slice(i * WINDOW, (i + 1) * WINDOW)),
  )
}

function bestOf(blocks: readonly Block[]): Block | undefined {
  return blocks.reduce<Block | undefined>(
    (best, each) => (best === undefined || each.heldOut > best.heldOut ? each : best),
    undefined,
  )
}
