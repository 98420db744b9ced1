// Seeded replicates: every arm becomes `n_repeats` runs that differ in seed alone. A chain is repeated as a whole.
import type { RunConfig } from '../contracts/index.ts'
import type { LocatedMap } from './located.ts'

/** An arm that is valid, with the tree it was read from. */
export interface CheckedArm {
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
  readonly tree: LocatedMap
  readonly config: RunConfig
  readonly stage?: number
}

export interface Repeats {
  readonly n_repeats: number
  readonly base_seed?: number | undefined
}

/** A run before its hash is known. */
export interface RepeatedRun {
  readonly name: string
  readonly arm: string
  readonly seed: number
  readonly stage?: number
  readonly after?: string
  readonly config: RunConfig
  readonly tree: LocatedMap
}

/** The seeds of an arm: `base_seed`, or its own seed, and the numbers that follow. */
export function seedsOf(arm: CheckedArm, { n_repeats, base_seed }: Repeats): number[] {
  const first = base_seed ?? arm.config.seed
  return Array.from({ length: n_repeats }, (_, i) => first + i)
}

/** The runs of all arms, in the order in which they start. */
export function expandRepeats(arms: readonly CheckedArm[], repeats: Repeats): RepeatedRun[] {
  const isChain = arms.some((arm) => arm.stage !== undefined)
  if (!isChain) return arms.flatMap((arm) => seedsOf(arm, repeats).map((seed) => runOf(arm, seed, repeats)))
  return Array.from({ length: repeats.n_repeats }, (_, i) => chainOf(arms, i, repeats)).flat()
}

function chainOf(arms: readonly CheckedArm[], repeat: number, repeats: Repeats): RepeatedRun[] {
  const runs: RepeatedRun[] = []
  for (const arm of arms) {
    const run = runOf(arm, seedsOf(arm, repeats)[repeat] ?? arm.config.seed, repeats)
    const before = arm.stage === undefined ? undefined : runs.findLast(({ stage }) => stage !== undefined)
    runs.push({
      ...run,
      ...(arm.stage === undefined ? {} : { stage: arm.stage }),
      ...(before === undefined ? {} : { after: before.name }),
    })
  }
  return runs
}

function runOf(arm: CheckedArm, seed: number, { n_repeats }: Repeats): RepeatedRun {
  const name = n_repeats > 1 ? `${arm.name}__s${seed}` : arm.name
  const isTagged = n_repeats > 1 && arm.stage !== undefined
  const tags = isTagged ? [...arm.config.tags, `seed:${seed}`] : arm.config.tags
  return { name, arm: arm.name, seed, config: Object.freeze({ ...arm.config, name, seed, tags }), tree: arm.tree }
}
