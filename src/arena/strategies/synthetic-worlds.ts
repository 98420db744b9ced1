// Worlds that need no data, by name.
import { EvsysError, suggest } from '../../kernel/index.ts'
import type { MadeTable } from '../tables/noisy-table.ts'
import type { SearchTable } from '../tables/search-table.ts'
import { cellTable, gridTable, nkTable, trapTable } from '../tables/synthetic-tables.ts'
import { ideaStream } from './idea-stream.ts'
import { tableWorld, type World } from './world.ts'

const makers: Readonly<Record<string, (seed: number) => readonly World[]>> = {
  nk: (seed) => [0, 2, 5].map((k) => tableWorld(nkTable({ n: 14, k, seed }))),
  cells: (seed) => made(cellTable, seed, 4),
  grids: (seed) => made(gridTable, seed, 3),
  traps: (seed) => made(trapTable, seed, 3),
  ideas: (seed) => [
    ideaStream({ name: 'ideas-few-good', seed, families: 8, goodFamilies: 0.25, repeats: 0.2, crashes: 0.1 }),
    ideaStream({ name: 'ideas-repeats', seed, families: 6, goodFamilies: 0.5, repeats: 0.4, crashes: 0.1 }),
    ideaStream({ name: 'ideas-crashes', seed, families: 6, goodFamilies: 0.5, repeats: 0.1, crashes: 0.4 }),
  ],
}

const searchWorldNames: readonly string[] = Object.keys(makers)

const isSearchWorld = (name: string): boolean => Object.hasOwn(makers, name)

/** The worlds of a name. */
export function syntheticWorlds(name: string, seed: number): readonly World[] {
  const make = isSearchWorld(name) ? makers[name] : undefined
  if (make !== undefined) return make(seed)
  throw new EvsysError('CLI_USAGE', `there are no worlds called "${name}"`, { fix: suggest(name, searchWorldNames) })
}

function made(make: (which: MadeTable) => SearchTable, seed: number, count: number): readonly World[] {
  return Array.from({ length: count }, (_, place) => tableWorld(make({ seed, place })))
}

// The worlds of the bench by the names that people write.
/** Worlds in which no strategy searches: killers of runs, the executor and the controller are put to the test. */
const otherWorlds = ['curves', 'adversary', 'chaos'] as const
type OtherWorld = (typeof otherWorlds)[number]

/** Stands for all of them. */
const everyWorld = 'all'

/** What names stand for, `search` those that strategies search; one that is unknown is an error that suggests what was meant. */
export function chosenWorlds(names: readonly string[]) {
  const known: readonly string[] = [...searchWorldNames, ...otherWorlds]
  for (const name of names) {
    if (name === everyWorld || known.includes(name)) continue
    const fix = suggest(name, [...known, everyWorld])
    throw new EvsysError('CLI_USAGE', `there are no worlds called "${name}"`, { fix })
  }
  const chosen = names.includes(everyWorld) ? known : names
  return { search: chosen.filter(isSearchWorld), has: (world: OtherWorld) => chosen.includes(world) }
}
