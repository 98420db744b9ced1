// Half of what a search keeps helps nothing. At the end every kept change is taken out of the final stack once and run on two shared
// seeds; a change that is not missed, and whose absence makes the code shorter, is dropped.

import type { Direction } from '../../contracts/index.ts'
import { meanOf } from '../../stats/index.ts'
import { pairGains, type SeedResult } from './measure-gain.ts'

/** Seeds of every run of an ablation: the first of the bank. */
export const ablationSeeds = 2

/**
 * Assesses one change by the scores of the stack without it. What could not be measured stays. `z`: how much worse the stack is without
 * the change, in standard errors; undefined when a run is missing.
 */
export function assessAblation(options: {
  readonly direction: Direction
  readonly ablated: readonly SeedResult[]
  readonly champion: readonly SeedResult[]
  readonly sigma: number
  /** Lines of code that leaving it out saves; below zero it would add some. */
  readonly linesSaved: number
}): { readonly z: number | undefined; readonly drop: boolean; readonly words: string } {
  const { direction, ablated, champion, sigma, linesSaved } = options
  const losses = pairGains(direction, champion, ablated)
  if (losses.length < ablationSeeds || losses.length < ablated.length) {
    return { z: undefined, drop: false, words: 'Stays: the stack did not run without it.' }
  }
  const z = (meanOf(losses) * Math.sqrt(losses.length)) / sigma
  const measured = `${Math.abs(z).toFixed(1)} sigma ${z < 0 ? 'better' : 'worse'} without it on ${losses.length} seeds`
  if (z >= 0.5) return { z, drop: false, words: `Stays: ${measured}.` }
  // Better without it by as much: it does harm, however long the code.
  if (z <= -0.5) return { z, drop: true, words: `Dropped: ${measured}.` }
  return linesSaved > 0
    ? { z, drop: true, words: `Dropped: ${measured}, ${linesSaved} lines fewer.` }
    : { z, drop: false, words: `Stays: ${measured}, and no line would be saved.` }
}
