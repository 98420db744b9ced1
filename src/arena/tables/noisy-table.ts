// From merits to a table of finished trainings: seeds scatter around the merit of a configuration, more among the bad, and a part of
// what a seed does is the same for all.
import type { KeyedRandom } from '../../kernel/index.ts'
import { type SearchTable, stridesOf, tableTruth } from './search-table.ts'

/** Share of the variance of a seed that is the same for all configurations. */
const sharedShare = 0.2
/** A configuration at the bottom has this many times the noise of one at the top. */
const bottomNoise = 3

/** Which of the tables that can be made. */
export type MadeTable = { readonly seed: number; readonly place: number }

interface NoisyTableOptions {
  readonly name: string
  readonly axes: SearchTable['axes']
  /** Of every configuration, more is better. */
  readonly merits: Float64Array
  readonly seeds: number
  /** From the median of the best 1 % to the target, in standard deviations of a seed. */
  readonly gap: number
  readonly draw: KeyedRandom
}

export function noisyTable({ name, axes, merits, seeds, gap, draw }: NoisyTableOptions): SearchTable {
  const table = { name, direction: 'max' as const, axes }
  const { target } = tableTruth({ ...table, seeds: 1, values: Float32Array.from(merits) })
  const sorted = Float64Array.from(merits).sort()
  const middle = sorted[Math.floor(merits.length * 0.995)] ?? target
  const low = sorted[Math.floor(merits.length * 0.05)] ?? middle
  const sd = (target - middle) / gap
  const offsets = Array.from({ length: seeds }, () => Math.sqrt(sharedShare) * sd * draw.normal())
  const values = new Float32Array(merits.length * seeds)
  for (const [config, merit] of merits.entries()) {
    const depth = Math.min(1, Math.max(0, (middle - merit) / (middle - low)))
    const own = Math.sqrt(1 - sharedShare) * sd * (1 + (bottomNoise - 1) * depth)
    for (let seed = 0; seed < seeds; seed++) {
      values[config * seeds + seed] = merit + (offsets[seed] ?? 0) + own * draw.normal()
    }
  }
  return { ...table, seeds, values }
}

// A merit as a sum of effects of single axes, of pairs and of triples, each with its share of the variance. Tables of real trainings
// have about 0.7, 0.2 and 0.1 of it in these once their scores are spread as a normal.
/** The effect of one value of an axis, of any spread. */
type MainEffect = (axis: number, place: number) => number

interface EffectsOptions {
  readonly sizes: readonly number[]
  /** How much each axis matters beside the others. */
  readonly weights: readonly number[]
  readonly main: MainEffect
  /** Shares of the variance: of pairs of axes, of triples, of what is a configuration's own; single axes have the rest. */
  readonly shares: { readonly pairs: number; readonly triples: number; readonly own: number }
  readonly draw: KeyedRandom
}

/** The merit of every configuration, row-major: mean 0, variance 1. */
export function effectsOfAxes({ sizes, weights, main, shares, draw }: EffectsOptions): Float64Array {
  const single = tabled(sizes, tuples(sizes.length, 1), ([axis = 0]) =>
    Float64Array.from(
      standard(Array.from({ length: sizes[axis] ?? 1 }, (_, place) => main(axis, place))),
      (effect) => effect * (weights[axis] ?? 0),
    ),
  )
  const random = (order: number) =>
    tabled(sizes, tuples(sizes.length, order), (axes) => {
      const weight = axes.reduce((product, axis) => product * (weights[axis] ?? 0), 1) ** (1 / order)
      const size = axes.reduce((product, axis) => product * (sizes[axis] ?? 1), 1)
      return Float64Array.from({ length: size }, () => weight * draw.normal())
    })
  const parts = [
    { share: 1 - shares.pairs - shares.triples - shares.own, merits: single },
    { share: shares.pairs, merits: random(2) },
    { share: shares.triples, merits: random(3) },
    { share: shares.own, merits: single.map(() => draw.normal()) },
  ]
  const total = new Float64Array(single.length)
  for (const { share, merits } of parts) {
    const scaled = standard(merits)
    for (let i = 0; i < total.length; i++) total[i] = (total[i] ?? 0) + Math.sqrt(share) * (scaled[i] ?? 0)
  }
  return Float64Array.from(standard(total))
}

/** Mean 0 and variance 1. */
export function standard(values: ArrayLike<number>): number[] {
  const all = Array.from(values)
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length
  const sd = Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / all.length)
  return all.map((value) => (sd === 0 ? 0 : (value - mean) / sd))
}

function tuples(count: number, order: number, from = 0): number[][] {
  if (order === 0) return [[]]
  const all: number[][] = []
  for (let first = from; first < count; first++) {
    for (const rest of tuples(count, order - 1, first + 1)) all.push([first, ...rest])
  }
  return all
}

// For every group of axes a look-up table of its effects, added over the groups.
function tabled(
  sizes: readonly number[],
  groups: readonly (readonly number[])[],
  effectsOf: (axes: readonly number[]) => Float64Array,
): Float64Array {
  const strides = stridesOf({
    axes: sizes.map((size) => ({ name: '', values: Array.from({ length: size }, (_, i) => i) })),
  })
  const merits = new Float64Array(sizes.reduce((product, size) => product * size, 1))
  for (const axes of groups) {
    const effects = effectsOf(axes)
    for (let config = 0; config < merits.length; config++) {
      let at = 0
      for (const axis of axes) {
        const size = sizes[axis] ?? 1
        at = at * size + (Math.floor(config / (strides[axis] ?? 1)) % size)
      }
      merits[config] = (merits[config] ?? 0) + (effects[at] ?? 0)
    }
  }
  return merits
}
