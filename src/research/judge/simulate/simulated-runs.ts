// Runs of a simulated session. A score is the candidate's true mean, what its seed does to every candidate, and its own luck; validation
// and the hidden split have luck of their own. The same seed twice gives the same score.

import type { Direction } from '../../../contracts/index.ts'
import { keyedRandom } from '../../../kernel/index.ts'
import type { SeedResult } from '../pair-gains.ts'
import type { World } from './worlds.ts'

export interface SimulatedCandidate {
  readonly id: string
  /** How much better than the baseline it is in truth. */
  readonly gain: number
}

/** What a run on validation is for: candidates on their first seed and on later ones, incumbents on fresh seeds, controls. */
export type RunPurpose = 'baseline' | 'first seeds' | 'later seeds' | 'incumbent' | 'control'

export interface SimulatedRuns {
  /** `purpose`: of a run on validation. */
  run(candidate: SimulatedCandidate, seed: number, split: 'val' | 'test', purpose?: RunPurpose): SeedResult
  /** Runs on validation so far, by purpose. */
  readonly spent: Readonly<Record<RunPurpose, number>>
  /** Runs so far, by split. */
  readonly count: { readonly val: number; readonly test: number }
}

/** Opens the runs of one session. Where smaller is better, true gains lower the score. */
export function openRuns(world: World, direction: Direction, sessionSeed: number): SimulatedRuns {
  const luck = keyedRandom(sessionSeed, 'luck')
  const seedLuck = { val: new Map<number, number>(), test: new Map<number, number>() }
  const known = new Map<string, SeedResult>()
  const count = { val: 0, test: 0 }
  const spent = { baseline: 0, 'first seeds': 0, 'later seeds': 0, incumbent: 0, control: 0 }
  const sign = direction === 'max' ? 1 : -1
  return {
    count,
    spent,
    run({ id, gain }, seed, split, purpose) {
      const key = `${id} ${seed} ${split}`
      const before = known.get(key)
      if (before !== undefined) return before
      count[split]++
      if (purpose !== undefined) spent[purpose]++
      const shared = seedLuck[split].get(seed) ?? luck.normal()
      seedLuck[split].set(seed, shared)
      const own = luck.normal()
      const crashed = world.crashes > 0 && id !== '0' && luck.float() < world.crashes
      const noise = Math.sqrt(world.rho) * shared + Math.sqrt(1 - world.rho) * own
      const result = { seed, value: crashed ? null : 10 + sign * (gain + noise) }
      known.set(key, result)
      return result
    },
  }
}
