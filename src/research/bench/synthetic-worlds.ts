// Worlds that need no data, by name.
import { EvsysError, suggest } from '../../kernel/index.ts'
import { ideaStream } from './idea-stream.ts'
import { nkTable } from './nk-table.ts'
import { tableWorld } from './table-world.ts'
import type { World } from './world.ts'

const makers: Readonly<Record<string, (seed: number) => readonly World[]>> = {
  nk: (seed) => [0, 2, 5].map((k) => tableWorld(nkTable({ n: 14, k, seed }))),
  ideas: (seed) => [
    ideaStream({ name: 'ideas-few-good', seed, families: 8, goodFamilies: 0.25, repeats: 0.2, crashes: 0.1 }),
    ideaStream({ name: 'ideas-repeats', seed, families: 6, goodFamilies: 0.5, repeats: 0.4, crashes: 0.1 }),
    ideaStream({ name: 'ideas-crashes', seed, families: 6, goodFamilies: 0.5, repeats: 0.1, crashes: 0.4 }),
  ],
}

export const syntheticWorldNames: readonly string[] = Object.keys(makers)

/** The worlds of a name. */
export function syntheticWorlds(name: string, seed: number): readonly World[] {
  const make = Object.hasOwn(makers, name) ? makers[name] : undefined
  if (make !== undefined) return make(seed)
  throw new EvsysError('CLI_USAGE', `there are no worlds called "${name}"`, { fix: suggest(name, syntheticWorldNames) })
}
