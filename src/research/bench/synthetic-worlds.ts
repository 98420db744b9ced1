// Worlds that need no data, by name.
import { EvsysError, suggest } from '../../kernel/index.ts'
import { cellTable } from './cell-table.ts'
import { gridTable } from './grid-table.ts'
import { ideaStream } from './idea-stream.ts'
import { nkTable } from './nk-table.ts'
import type { MadeTable } from './noisy-table.ts'
import type { SearchTable } from './search-table.ts'
import { tableWorld } from './table-world.ts'
import { trapTable } from './trap-table.ts'
import type { World } from './world.ts'

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

export const searchWorldNames: readonly string[] = Object.keys(makers)

export const isSearchWorld = (name: string): boolean => Object.hasOwn(makers, name)

/** The worlds of a name. */
export function syntheticWorlds(name: string, seed: number): readonly World[] {
  const make = isSearchWorld(name) ? makers[name] : undefined
  if (make !== undefined) return make(seed)
  throw new EvsysError('CLI_USAGE', `there are no worlds called "${name}"`, { fix: suggest(name, searchWorldNames) })
}

function made(make: (which: MadeTable) => SearchTable, seed: number, count: number): readonly World[] {
  return Array.from({ length: count }, (_, place) => tableWorld(make({ seed, place })))
}
