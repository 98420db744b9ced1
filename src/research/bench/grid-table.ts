// Grids of hyperparameters, as in FC-Net and HPOBench: few values each, most of them in order, one that matters more than all others
// together, and hills whose top moves with another knob.
import { type KeyedRandom, keyedRandom } from '../../kernel/index.ts'
import { effectsOfAxes, standard } from './effects-of-axes.ts'
import { type MadeTable, noisyTable } from './noisy-table.ts'
import { type SearchTable, stridesOf } from './search-table.ts'

/** Values of each axis; those of two are words. */
const shapes = [
  [2, 2, 4, 3, 3, 6, 2, 6, 6],
  [10, 10, 3, 10, 10],
  [3, 5, 5, 7, 4, 6],
] as const

export function gridTable({ seed, place }: MadeTable): SearchTable {
  const draw = keyedRandom(seed, 'grids', place)
  const sizes = shapes[place % shapes.length] ?? shapes[0]
  const axes = draw.shuffle(sizes).map((size, axis) => ({
    name: `knob${axis}`,
    values: size === 2 ? ['no', 'yes'] : Array.from({ length: size }, (_, place) => place),
  }))
  const loud = draw.int(axes.length)
  const weights = axes.map((_, axis) => (axis === loud ? 2.5 : 0.2 + draw.float()))
  const tops = axes.map(() => draw.float())
  const rough = effectsOfAxes({
    sizes: axes.map(({ values }) => values.length),
    weights,
    main: (axis, place) => hill(shareOf(axes, axis, place), tops[axis] ?? 0),
    shares: { pairs: 0.05, triples: 0.05, own: 0.01 },
    draw,
  })
  const moved = standard(movedHills(axes, weights, draw))
  const movedShare = 0.1 + 0.2 * draw.float()
  const merits = rough.map((merit, i) => {
    const sum = Math.sqrt(1 - movedShare) * merit + Math.sqrt(movedShare) * (moved[i] ?? 0)
    return -Math.exp(-sum)
  })
  return noisyTable({ name: `grids-${place}`, axes, merits, seeds: 4, gap: 1.5 + 5 * draw.float(), draw })
}

// The top of one knob lies elsewhere for every value of another.
function movedHills(axes: SearchTable['axes'], weights: readonly number[], draw: KeyedRandom): Float64Array {
  const strides = stridesOf({ axes })
  const merits = new Float64Array(axes.reduce((product, { values }) => product * values.length, 1))
  const pairs = axes.map((_, axis) => ({ axis, by: (axis + 1 + draw.int(axes.length - 1)) % axes.length }))
  const slopes = pairs.map(() => (draw.float() < 0.5 ? -1 : 1))
  for (let config = 0; config < merits.length; config++) {
    const at = (axis: number) =>
      shareOf(axes, axis, Math.floor(config / (strides[axis] ?? 1)) % (axes[axis]?.values.length ?? 1))
    let sum = 0
    for (const [i, { axis, by }] of pairs.entries()) {
      sum += (weights[axis] ?? 0) * (slopes[i] ?? 1) * (at(axis) - 0.5) * (at(by) - 0.5)
    }
    merits[config] = sum
  }
  return merits
}

function shareOf(axes: SearchTable['axes'], axis: number, place: number): number {
  return place / Math.max(1, (axes[axis]?.values.length ?? 1) - 1)
}

function hill(share: number, top: number): number {
  return -((share - top) ** 2)
}
