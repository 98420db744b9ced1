// The worlds of the bench by the names that people write.
import { EvsysError, suggest } from '../../kernel/index.ts'
import { isSearchWorld, searchWorldNames } from './synthetic-worlds.ts'

/** Worlds in which no strategy searches: killers of runs, the executor and the controller are put to the test. */
const otherWorlds = ['curves', 'adversary', 'chaos'] as const
type OtherWorld = (typeof otherWorlds)[number]

/** Stands for all of them. */
const everyWorld = 'all'

export interface ChosenWorlds {
  /** Names of worlds that strategies search. */
  readonly search: readonly string[]
  has(world: OtherWorld): boolean
}

/** What names stand for; one that is unknown is an error that tells what was probably meant. */
export function chosenWorlds(names: readonly string[]): ChosenWorlds {
  const known: readonly string[] = [...searchWorldNames, ...otherWorlds]
  for (const name of names) {
    if (name === everyWorld || known.includes(name)) continue
    const fix = suggest(name, [...known, everyWorld])
    throw new EvsysError('CLI_USAGE', `there are no worlds called "${name}"`, { fix })
  }
  const chosen = names.includes(everyWorld) ? known : names
  return { search: chosen.filter(isSearchWorld), has: (world) => chosen.includes(world) }
}
