// Something to search in: it plays the proposer and the executor of the loop, so that strategies are measured alone.
import type { CandidateIdea, Direction, KnobSpec, Knobs, SearchRequest } from '../../contracts/index.ts'
import type { KeyedRandom } from '../../kernel/index.ts'
import { type SearchTable, spaceOf, stridesOf, type TableTruth, tableTruth } from '../tables/search-table.ts'

/** A candidate as a world knows it. */
export type Candidate = { readonly knobs: Knobs; readonly fingerprint: string }

export interface World {
  readonly name: string
  readonly direction: Direction
  readonly space: Readonly<Record<string, KnobSpec>>
  /** Why its results do not count. */
  readonly flat?: string | undefined
  /** Begins a session: equal randomness gives equal sessions. */
  open(random: KeyedRandom): WorldSession
}

interface WorldSession {
  readonly baseline: Candidate
  /** Ideas for a request, repeats among them. */
  propose(request: SearchRequest, parents: readonly Candidate[], random: KeyedRandom): readonly CandidateIdea[]
  /** One noisy run; no value: it crashed. */
  run(candidate: Candidate, random: KeyedRandom): { readonly value?: number | undefined; readonly reached: boolean }
}

// A table as a world. Its proposer changes one to three knobs of the parent that it is asked to change, at random; of two parents, it
// takes the values of the second where they differ.
const mostKnobsChanged = 3

export function tableWorld(table: SearchTable, truth: TableTruth = tableTruth(table)): World {
  const { name, direction, axes, seeds, values } = table
  const strides = stridesOf(table)
  const turnable = axes.flatMap(({ values }, axis) => (values.length > 1 ? [axis] : []))
  const placeOf = (config: number, axis: number): number =>
    Math.floor(config / (strides[axis] ?? 1)) % (axes[axis]?.values.length ?? 1)
  const candidateOf = (config: number): Candidate => {
    const knobs: Knobs = {}
    for (const [axis, { name, values }] of axes.entries()) knobs[name] = values[placeOf(config, axis)] ?? ''
    return { knobs, fingerprint: String(config) }
  }
  const turned = (config: number, axis: number, place: number): number =>
    config + (place - placeOf(config, axis)) * (strides[axis] ?? 1)

  const change = (base: number, partner: number | undefined, random: KeyedRandom): CandidateIdea | undefined => {
    const changed = random.shuffle(turnable).slice(0, 1 + random.int(mostKnobsChanged))
    let config = base
    for (const axis of changed) {
      const theirs = partner === undefined ? placeOf(base, axis) : placeOf(partner, axis)
      config = turned(config, axis, theirs === placeOf(base, axis) ? otherPlace(base, axis, random) : theirs)
    }
    if (Number.isNaN(truth.merits[config])) return undefined // no seed of it was ever finished: it is not in the table
    const candidate = candidateOf(config)
    const names = changed.map((axis) => axes[axis]?.name ?? '').sort()
    const knobs = Object.fromEntries(names.map((name) => [name, candidate.knobs[name] ?? '']))
    const family = names.join('+').slice(0, 60)
    const about = { title: `turn ${family}`, hypothesis: '', family, parents: [] }
    const change = { kind: 'knobs', knobs } as const
    return { ...candidate, idea: { ...about, category: 'hyperparameter', cost: 'same', change } }
  }
  const otherPlace = (config: number, axis: number, random: KeyedRandom): number => {
    const place = random.int((axes[axis]?.values.length ?? 2) - 1)
    return place >= placeOf(config, axis) ? place + 1 : place
  }

  return {
    name,
    direction,
    space: spaceOf(table),
    flat: truth.flat ? `the target is ${truth.gap.toFixed(2)} seed sd from the median of the best 1 %` : undefined,
    open(random) {
      const start = random.derive('start').pick(truth.starts)
      return {
        baseline: candidateOf(start),
        propose({ ideas }, parents, draw) {
          const [base, partner] = parents.map(({ fingerprint }) => Number(fingerprint))
          if (base === undefined || turnable.length === 0) return []
          return Array.from({ length: ideas }, () => change(base, partner, draw)).filter((idea) => idea !== undefined)
        },
        run({ fingerprint }, draw) {
          const config = Number(fingerprint)
          const finished = Array.from(values.subarray(config * seeds, (config + 1) * seeds)).filter(Number.isFinite)
          return { value: draw.pick(finished), reached: (truth.merits[config] ?? Number.NaN) >= truth.target }
        },
      }
    },
  }
}
