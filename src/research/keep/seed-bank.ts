// The seeds that races are run on, newest first. All candidates run them in the same order, so that a seed is compared with itself. A
// candidate that won was lucky on the seeds it won on: at every keep the oldest seed goes and a fresh one comes, on which nothing was
// chosen, and the next races meet that one first.

import type { SeedPath } from '../../contracts/index.ts'
import { keyedRandom } from '../../kernel/index.ts'
import { type SeedResult, valuesBySeed } from './measure-gain.ts'

/** Seeds in the bank: as many as the longest race. */
export const bankSize = 5

/** Seeds of the first races: those of the task, filled up with fresh ones. */
export function openBank(taskSeeds: readonly number[], sessionSeed: number): readonly number[] {
  const own = [...new Set(taskSeeds)].slice(0, bankSize)
  return [...own, ...freshSeeds({ sessionSeed, path: ['bank'], count: bankSize - own.length, used: own })]
}

interface FreshSeedsOptions {
  readonly sessionSeed: number
  /** What they are for: equal paths give equal seeds. */
  readonly path: SeedPath
  readonly count: number
  /** Every seed that the session ran or planned, of any purpose. */
  readonly used: Iterable<number>
}

/** Seeds that nothing was chosen on. */
export function freshSeeds({ sessionSeed, path, count, used }: FreshSeedsOptions): number[] {
  const taken = new Set(used)
  const random = keyedRandom(sessionSeed, 'fresh seeds', ...path)
  const seeds: number[] = []
  while (seeds.length < count) {
    const seed = random.int(2 ** 31 - 1)
    if (taken.has(seed)) continue
    taken.add(seed)
    seeds.push(seed)
  }
  return seeds
}

/**
 * What a race runs next; undefined when the bank is used up, and the race ends as it stands. The incumbent runs a seed only when a
 * candidate comes to it, and before the candidate does. A seed that the incumbent failed on is passed over.
 */
export function nextRaceRun(
  bank: readonly number[],
  candidate: readonly SeedResult[],
  incumbent: readonly SeedResult[],
): { readonly who: 'candidate' | 'incumbent'; readonly seed: number } | undefined {
  const ran = new Set(candidate.map(({ seed }) => seed))
  const tried = new Set(incumbent.map(({ seed }) => seed))
  const measured = valuesBySeed(incumbent)
  for (const seed of bank) {
    if (!tried.has(seed)) return { who: 'incumbent', seed }
    if (!ran.has(seed) && measured.has(seed)) return { who: 'candidate', seed }
  }
  return undefined
}

interface RefreshOptions {
  readonly bank: readonly number[]
  readonly sessionSeed: number
  /** Of keeps, or of drifts, so far. */
  readonly number: number
  readonly used: Iterable<number>
}

/** The bank after a keep. */
export function refreshBank({ bank, sessionSeed, number, used }: RefreshOptions): number[] {
  const fresh = freshSeeds({ sessionSeed, path: ['refresh', number], count: 1, used: [...used, ...bank] })
  return [...fresh, ...bank.slice(0, -1)]
}

/**
 * The bank after a control run that showed no drift. Its seed is a fresh one on which the incumbent is measured already: races meet it
 * first, and what luck the incumbent had on the seeds that it won on leaves the bank with them.
 */
export function adoptControl(bank: readonly number[], seed: number): readonly number[] {
  return bank.includes(seed) ? bank : [seed, ...bank.slice(0, -1)]
}

/** The bank after drift: nothing that was measured before it is compared with again. */
export function renewBank({ bank, sessionSeed, number, used }: RefreshOptions): number[] {
  return freshSeeds({ sessionSeed, path: ['drift', number], count: bank.length, used: [...used, ...bank] })
}
