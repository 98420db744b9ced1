// Worlds that need no data, by name.
import type { CandidateIdea, IdeaCategory } from '../../contracts/index.ts'
import { EvsysError, type KeyedRandom, keyedRandom, suggest } from '../../kernel/index.ts'
import type { MadeTable } from '../tables/noisy-table.ts'
import type { SearchTable } from '../tables/search-table.ts'
import { cellTable, gridTable, nkTable, trapTable } from '../tables/synthetic-tables.ts'
import { type Candidate, tableWorld, type World } from './world.ts'

const tableMakers: Readonly<Record<string, (seed: number) => readonly SearchTable[]>> = {
  nk: (seed) => [0, 2, 5].map((k) => nkTable({ n: 14, k, seed })),
  cells: (seed) => made(cellTable, seed, 4),
  grids: (seed) => made(gridTable, seed, 3),
  traps: (seed) => made(trapTable, seed, 3),
}

const makers: Readonly<Record<string, (seed: number) => readonly World[]>> = {
  ...Object.fromEntries(
    Object.entries(tableMakers).map(([name, make]) => [
      name,
      (seed: number) => make(seed).map((each) => tableWorld(each)),
    ]),
  ),
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

/** The tables behind the worlds of a name; none where they are no tables. */
export function syntheticTables(name: string, seed: number): readonly SearchTable[] {
  return Object.hasOwn(tableMakers, name) ? (tableMakers[name]?.(seed) ?? []) : []
}

function made(make: (which: MadeTable) => SearchTable, seed: number, count: number): readonly SearchTable[] {
  return Array.from({ length: count }, (_, place) => make({ seed, place }))
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

// A world of code instead of knobs: ideas come in families, some of which help more often than others; some ideas come twice, some
// crash, and the more is reached the less each adds.
interface IdeaStreamOptions {
  readonly name: string
  readonly seed: number
  readonly families: number
  /** Share of families whose ideas help often. */
  readonly goodFamilies: number
  /** Share of ideas that were proposed before. */
  readonly repeats: number
  /** Share of ideas whose candidates crash. */
  readonly crashes: number
}

const ideasPerFamily = 40
const categories: readonly IdeaCategory[] = ['architectural', 'optimizer', 'hyperparameter', 'regularization']
/** What all ideas together could add, in the unit of a typical effect. */
const ceiling = 10
/** Share of the ceiling that counts as found. */
const targetShare = 0.6
const noiseSd = 0.3

function ideaStream(options: IdeaStreamOptions): World {
  return {
    name: options.name,
    direction: 'max',
    space: {},
    open() {
      const asked: string[] = []
      const effects = new Map<string, number>()
      const effectOf = (idea: string): number => {
        const known = effects.get(idea) ?? drawEffect(options, idea)
        effects.set(idea, known)
        return known
      }
      const crashes = (idea: string): boolean => keyedRandom(options.seed, 'crash', idea).float() < options.crashes
      return {
        baseline: candidateOf([]),
        propose({ ideas, avoidFamilies }, parents, draw) {
          const before = [...new Set(parents.flatMap(({ fingerprint }) => partsOf(fingerprint)))]
          return Array.from({ length: ideas }, () => {
            const idea = nextIdea(options, asked, avoidFamilies, draw)
            asked.push(idea)
            return labelled(idea, [...before, idea], options)
          })
        },
        run({ fingerprint }, draw) {
          const parts = partsOf(fingerprint)
          // A candidate is as whole as the change that made it: its parents ran.
          if (parts.some(crashes)) return { reached: false }
          const sum = parts.reduce((total, idea) => total + effectOf(idea), 0)
          const truth = sum > 0 ? ceiling * (1 - Math.exp(-sum / ceiling)) : sum
          return { value: truth + noiseSd * draw.normal(), reached: truth >= targetShare * ceiling }
        },
      }
    },
  }
}

function nextIdea(
  { families, repeats }: IdeaStreamOptions,
  asked: readonly string[],
  avoid: readonly string[],
  draw: KeyedRandom,
): string {
  const open = Array.from({ length: families }, (_, i) => familyName(i)).filter((name) => !avoid.includes(name))
  const known = asked.filter((idea) => open.includes(familyOf(idea)))
  if (known.length > 0 && draw.float() < repeats) return draw.pick(known)
  return `${draw.pick(open.length > 0 ? open : [familyName(0)])}.${draw.int(ideasPerFamily)}`
}

function drawEffect({ seed, families, goodFamilies }: IdeaStreamOptions, idea: string): number {
  const draw = keyedRandom(seed, 'effect', idea)
  const isGood = Number(familyOf(idea).slice(1)) < families * goodFamilies
  const share = draw.float()
  const size = -Math.log(1 - draw.float())
  if (share < (isGood ? 0.4 : 0.04)) return size
  return share < 0.6 ? 0 : -1.5 * size
}

function labelled(idea: string, parts: readonly string[], { families }: IdeaStreamOptions): CandidateIdea {
  const family = familyOf(idea)
  const place = Math.floor((Number(family.slice(1)) * categories.length) / families)
  const about = { title: `idea ${idea}`, hypothesis: '', family, category: categories[place] ?? 'architectural' }
  const change = { kind: 'files', files: { 'candidate.txt': idea } } as const
  return { ...candidateOf(parts), idea: { ...about, cost: 'same', parents: [], change } }
}

const familyName = (family: number): string => `f${family}`
const familyOf = (idea: string): string => idea.split('.')[0] ?? ''

function candidateOf(parts: readonly string[]): Candidate {
  return { knobs: {}, fingerprint: [...new Set(parts)].sort().join(' ') }
}

function partsOf(fingerprint: string): string[] {
  return fingerprint === '' ? [] : fingerprint.split(' ')
}
