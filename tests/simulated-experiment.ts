// Experiments drawn by chance, for tests that ask how often a verdict is wrong. Rewards are right or wrong; how likely right depends on
// the task, on luck that both arms share in a seed (data order), on luck of one arm's training, and on luck of one task in it.

import type { Random } from '../src/contracts/index.ts'
import type { ArmScores } from '../src/stats/index.ts'

export interface World {
  readonly seeds: number
  readonly tasks: number
  /** Rewards per task; a score is their mean. */
  readonly samples?: number | undefined
  /** Log-odds of an average task. */
  readonly level?: number | undefined
  /** Spread of log-odds over tasks, over seeds for both arms alike, over seeds for each arm, over single cells. */
  readonly taskSd?: number | undefined
  readonly sharedSd?: number | undefined
  readonly armSd?: number | undefined
  readonly cellSd?: number | undefined
  /** What the treatment adds to the log-odds. */
  readonly gain?: number | undefined
  /** The treatment finds other tasks hard than the baseline does, and as many. */
  readonly shuffled?: boolean | undefined
}

export interface Arms {
  readonly treatment: ArmScores
  readonly baseline: ArmScores
}

/** Two arms on the same seeds and tasks; equally good in the long run unless there is a gain. */
export function simulateExperiment(world: World, random: Random): Arms {
  const { level = 0.5, taskSd = 1.5, sharedSd = 0.3, armSd = 0.2, cellSd = 0.5, gain = 0 } = world
  const levels_T = Array.from({ length: world.tasks }, () => level + taskSd * random.normal())
  const shared_S = Array.from({ length: world.seeds }, () => sharedSd * random.normal())
  const arm = (own_T: readonly number[], lift: number): ArmScores => ({
    seeds: shared_S.map((_, s) => s),
    tasks: levels_T.map((_, t) => `task ${t}`),
    cells_S_T: shared_S.map((shared) => {
      const luck = shared + lift + armSd * random.normal()
      return own_T.map((own) => meanReward(own + luck + cellSd * random.normal(), world.samples ?? 1, random))
    }),
  })
  return {
    treatment: arm(world.shuffled ? random.shuffle(levels_T) : levels_T, gain),
    baseline: arm(levels_T, 0),
  }
}

function meanReward(logOdds: number, samples: number, random: Random): number {
  const chance = 1 / (1 + Math.exp(-logOdds))
  let right = 0
  for (let i = 0; i < samples; i++) right += random.float() < chance ? 1 : 0
  return right / samples
}
