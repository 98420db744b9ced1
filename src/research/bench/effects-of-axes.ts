// A merit as a sum of effects of single axes, of pairs and of triples, each with its share of the variance. Tables of real trainings
// have about 0.7, 0.2 and 0.1 of it in these once their scores are spread as a normal.
import type { KeyedRandom } from '../../kernel/index.ts'
import { stridesOf } from './search-table.ts'

/** The effect of one value of an axis, of any spread. */
export type MainEffect = (axis: number, place: number) => number

export interface EffectsOptions {
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
