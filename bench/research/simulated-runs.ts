// Runs of a simulated session. A score is the candidate's true mean, what its seed does to every candidate, and its own luck; validation
// and the hidden split have luck of their own. The same seed twice gives the same score.
import type { Direction, Random } from '../../src/contracts/index.ts'
import { keyedRandom } from '../../src/kernel/index.ts'
import type { SeedResult } from '../../src/research/keep/measure-gain.ts'

// Streams of ideas with known effects, to judge keep rules by. One unit is the standard deviation of a score over seeds; effects are
// gains over the incumbent, positive when better.
export interface World {
  /** Share of a score's variance that is common to all candidates on one seed: what pairing takes away. */
  readonly rho: number
  /** Share of runs that end without a score. */
  readonly crashes: number
  /** Scores are losses, of which a seed moves each by this share: exp(-gain), from 1 for the baseline. Absent: gains lower a score as they are. */
  readonly relative?: number | undefined
  /** Finite validation and test sets, whose items are a sample. Absent: scores are those of a set without end. */
  readonly items?: ItemWorld | undefined
  /** True gain of the next idea over an incumbent that is better than the baseline by `gained`. */
  idea(random: Random, gained: number): number
}

/** What the items of a split do to candidates, beside their seeds. No world here has anything to gain: all of it is luck. */
export interface ItemWorld {
  readonly count: number
  /** Seed noise, as a standard deviation of one score; 0: every seed gives the same. */
  readonly seedNoise: number
  /**
   * `luck`: the mean of a candidate over the items of a split deviates by this, as a standard deviation. `share`: outcomes are right or
   * wrong, a fair coin for the baseline, of which each candidate redraws this share.
   */
  readonly outcomes: { readonly luck: number } | { readonly share: number }
  /** The scorer gives one number and no outcomes by item. */
  readonly isScalar?: boolean | undefined
}

/** A world in which no idea does anything, on finite sets. */
export function openItemWorld(items: ItemWorld, rho = 0): World {
  return { rho, crashes: 0, items, idea: ideas.null }
}

export type WorldName = keyof typeof ideas

/** A world by its name. `null`: no idea does anything. `harmful`: none helps, half of them hurt. */
export function openWorld(name: WorldName, rho: number, crashes = 0): World {
  return { rho, crashes, idea: ideas[name] }
}

const ideas = {
  null: () => 0,
  harmful: (random) => mixture(random, { help: 0, helpMean: 0, hurt: 0.5, hurtMean: 1 }),
  // The first ideas of a session: many help, and much.
  early: (random) => mixture(random, { help: 0.15, helpMean: 1, hurt: 0.5, hurtMean: 3 }),
  // Its last: few help, and by less than the noise.
  late: (random) => mixture(random, { help: 0.05, helpMean: 0.4, hurt: 0.7, hurtMean: 1 }),
  // What is left to gain shrinks with what has been gained.
  shrinking: (random, gained) =>
    mixture(random, { help: 0.15, helpMean: Math.exp(-Math.max(0, gained) / 5), hurt: 0.5, hurtMean: 2 }),
  // Many small gains, few small losses.
  gentle: (random) => mixture(random, { help: 0.3, helpMean: 0.5, hurt: 0.2, hurtMean: 0.5 }),
  // Nearly all do nothing; what helps helps much.
  rare: (random) => mixture(random, { help: 0.05, helpMean: 1.5, hurt: 0.05, hurtMean: 2 }),
  // No idea does nothing at all: effects are normal.
  spread: (random) => random.normal() - 0.5,
  // Four more that no constant of a rule was chosen on: few large gains; small gains among large losses; heavy tails (Student, three
  // degrees of freedom); all sizes alike.
  few: (random) => mixture(random, { help: 0.1, helpMean: 2, hurt: 0.3, hurtMean: 1 }),
  steep: (random) => mixture(random, { help: 0.25, helpMean: 0.3, hurt: 0.6, hurtMean: 4 }),
  heavy: (random) => {
    const size = random.normal()
    return (0.7 * size) / Math.sqrt((random.normal() ** 2 + random.normal() ** 2 + random.normal() ** 2) / 3) - 0.3
  },
  even: (random) => -2 + 3 * random.float(),
} satisfies Record<string, World['idea']>

type Mixture = Record<'help' | 'helpMean' | 'hurt' | 'hurtMean', number>

// Sizes are exponential; what neither helps nor hurts does nothing.
function mixture(random: Random, { help, helpMean, hurt, hurtMean }: Mixture): number {
  const kind = random.float()
  const size = -Math.log(1 - random.float())
  if (kind < help) return helpMean * size
  return kind < help + hurt ? -hurtMean * size : 0
}

export interface SimulatedCandidate {
  readonly id: string
  /** How much better than the baseline it is in truth. */
  readonly gain: number
}

/** What a run on validation is for: candidates on their first seed and on later ones, incumbents on fresh seeds, controls. */
export type RunPurpose = 'baseline' | 'first seeds' | 'later seeds' | 'incumbent' | 'control'

/**
 * Opens the runs of one session, counted by split, and on validation by purpose. Where smaller is better, true gains lower the score.
 */
export function openRuns(world: World, direction: Direction, sessionSeed: number) {
  const luck = keyedRandom(sessionSeed, 'luck')
  const seedLuck = { val: new Map<number, number>(), test: new Map<number, number>() }
  const known = new Map<string, SeedResult>()
  const count = { val: 0, test: 0 }
  const spent = { baseline: 0, 'first seeds': 0, 'later seeds': 0, incumbent: 0, control: 0 }
  const sign = direction === 'max' ? 1 : -1
  const outcomesOf = openOutcomes(world.items, sessionSeed)
  return {
    count,
    spent,
    run({ id, gain }: SimulatedCandidate, seed: number, split: 'val' | 'test', purpose?: RunPurpose): SeedResult {
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
      const result: SeedResult = { seed, ...scoreOf(id, split, gain, noise) }
      const ended = crashed ? { seed, value: null } : result
      known.set(key, ended)
      return ended
    },
  }

  function scoreOf(id: string, split: 'val' | 'test', gain: number, noise: number): Omit<SeedResult, 'seed'> {
    if (world.relative !== undefined)
      return { value: Math.exp(-gain) * Math.max(0.01, 1 + world.relative * noise), items: 'fresh' }
    if (world.items === undefined) return { value: 10 + sign * (gain + noise), items: 'fresh' }
    const shift = gain + world.items.seedNoise * noise
    const items = outcomesOf(id, split).map((outcome) => 10 + sign * (outcome + shift))
    const value = items.reduce((sum, each) => sum + each, 0) / items.length
    return world.items.isScalar === true ? { value } : { value, items }
  }
}

// The same candidate has the same outcomes on every seed, but for what its seed does to all of them.
function openOutcomes(world: ItemWorld | undefined, sessionSeed: number) {
  const known = new Map<string, readonly number[]>()
  const drawn = (id: string, split: string): readonly number[] => {
    const { count, outcomes } = world ?? { count: 0, outcomes: { luck: 0 } }
    const random = keyedRandom(sessionSeed, 'items', split, id)
    if ('luck' in outcomes)
      return Array.from({ length: count }, () => outcomes.luck * Math.sqrt(count) * random.normal())
    const coin = () => Number(random.float() < 0.5)
    if (id === '0') return Array.from({ length: count }, coin)
    return outcomesOf('0', split).map((before) => (random.float() < outcomes.share ? coin() : before))
  }
  function outcomesOf(id: string, split: string): readonly number[] {
    const key = `${id} ${split}`
    const found = known.get(key) ?? drawn(id, split)
    known.set(key, found)
    return found
  }
  return outcomesOf
}
