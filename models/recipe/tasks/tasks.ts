// Tasks that no dialogue of the recipe holds: where a message belongs, what a note says, and which date is near another. Items are
// functions of a seed, and no item of one split is in another.
import { type KeyedRandom, keyedRandom } from '../../../src/kernel/index.ts'
import { dates, later, reworded } from './dates.ts'
import { extraction } from './extraction.ts'
import type { Item, Split } from './item.ts'
import { routing } from './routing.ts'

/** A task and the settings it is trained with, which were chosen on its validation items. */
export interface Task {
  readonly make: (random: KeyedRandom, split: Split) => Item
  /** Makes reworded items of those of the test, where `make` does not make them. */
  readonly reword?: (item: Item) => Item
  readonly steps: number
  readonly rate: number
  /** The splits to score; the routing test has phrases of its own already. */
  readonly scored: readonly Split[]
}

export const tasks: Readonly<Record<string, Task>> = {
  routing: { make: routing, steps: 100, rate: 0.002, scored: ['validation', 'test'] },
  extraction: { make: extraction, steps: 100, rate: 0.001, scored: ['validation', 'test', 'reworded'] },
  dates: { make: dates, reword: reworded, steps: 100, rate: 0.002, scored: ['validation', 'test', 'reworded'] },
}
/** Tasks that are shown beside the others. */
export const harderTasks: Readonly<Record<string, Task>> = {
  later: { make: later, reword: reworded, steps: 400, rate: 0.002, scored: ['validation', 'test', 'reworded'] },
}

const counts: Readonly<Record<Split, number>> = { train: 1500, validation: 64, test: 96, reworded: 96 }

/** The items of a split, fewer where there are not so many. */
export function itemsOf(name: string, task: Task, split: Split): readonly Item[] {
  const { make, reword } = task
  if (split === 'reworded' && reword !== undefined) return itemsOf(name, task, 'test').map(reword)
  const taken = new Set(split === 'test' ? itemsOf(name, task, 'validation').map(({ user }) => user) : [])
  const found = new Map<string, Item>()
  for (let index = 0; found.size < counts[split] && index < 50 * counts[split]; index++) {
    const item = make(keyedRandom(0, name, pathOf[split], index), split)
    if (!taken.has(item.user) && (name === 'routing' || isHeldOut(item) === (split !== 'train')))
      found.set(item.user, item)
  }
  return [...found.values()]
}

// Part of the path of the generator: a new one would be another set of items.
const pathOf: Readonly<Record<Split, string>> = {
  train: 'train',
  validation: 'heldout',
  test: 'test',
  reworded: 'reworded',
}

// An item belongs where the digest of its text says. The phrases of routing tell its splits apart.
function isHeldOut({ user }: Item): boolean {
  return keyedRandom(0, 'split', user).int(4) === 0
}
