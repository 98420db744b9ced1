// What a candidate is made of besides its knobs: the changes on its way from the baseline, with their families and categories.
// A change of hyperparameters that its knobs describe in full is left to them.
import type { Attempt, IdeaCategory, Knobs } from '../../contracts/index.ts'

export interface Lineage {
  /** Attempts on the way, itself among them. */
  readonly changes: ReadonlySet<string>
  readonly families: ReadonlyMap<string, number>
  readonly categories: ReadonlyMap<string, number>
}

/** A change to parents, tried or only thought of. */
export type Change = {
  readonly id: string
  readonly parents: readonly string[]
  readonly family: string
  readonly category: IdeaCategory
  readonly knobs: Knobs
  readonly change?: Attempt['change']
}

export type Lineages = ReturnType<typeof lineages>

const nothing: Lineage = { changes: new Set(), families: new Map(), categories: new Map() }

/** The lineage of every attempt, and that of a change that was not tried. Parents that are unknown add nothing. */
export function lineages(attempts: readonly Attempt[], rules = 1) {
  const known = new Map<string, Lineage>()
  const knobs = new Map<string, Knobs>()
  const grown = (change: Change): Lineage => {
    const [base = '', partner] = change.parents
    const from = known.get(base) ?? nothing
    const other = partner === undefined ? nothing : (known.get(partner) ?? nothing)
    // In sessions of the first rules, what its author called so.
    const isOfKnobs =
      rules < 2 || change.change === undefined ? change.category === 'hyperparameter' : change.change === 'knobs'
    const isKnobChange = isOfKnobs && differ(change.knobs, knobs.get(base))
    if (isKnobChange && (other === nothing || other === from)) return from
    const joined = {
      changes: new Set([...from.changes, ...other.changes]),
      families: joinedCounts(from.families, other.families),
      categories: joinedCounts(from.categories, other.categories),
    }
    if (isKnobChange) return joined
    joined.changes.add(change.id)
    joined.families.set(change.family, (joined.families.get(change.family) ?? 0) + 1)
    joined.categories.set(change.category, (joined.categories.get(change.category) ?? 0) + 1)
    return joined
  }
  for (const attempt of attempts) {
    known.set(attempt.id, attempt.number === 0 ? nothing : grown(attempt))
    knobs.set(attempt.id, attempt.knobs)
  }
  return { of: (id: string) => known.get(id) ?? nothing, grown }
}

function differ(a: Knobs, b: Knobs | undefined): boolean {
  if (b === undefined) return false
  for (const name in a) if (a[name] !== b[name]) return true
  return Object.keys(a).length !== Object.keys(b).length
}

function joinedCounts(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): Map<string, number> {
  const joined = new Map(a)
  for (const [name, count] of b) joined.set(name, Math.max(joined.get(name) ?? 0, count))
  return joined
}

const nothingInCommon = { changes: 0, families: 0, categories: 0 }

/** What two have in common: changes, families and categories, counted. */
export function inCommon(a: Lineage, b: Lineage): { changes: number; families: number; categories: number } {
  if (a.changes.size === 0 || b.changes.size === 0) return nothingInCommon
  let changes = 0
  for (const id of a.changes) if (b.changes.has(id)) changes++
  return { changes, families: product(a.families, b.families), categories: product(a.categories, b.categories) }
}

function product(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const [name, count] of a) sum += count * (b.get(name) ?? 0)
  return sum
}
