// Cells of a network, as in NAS-Bench-201: six edges between four nodes, five operations each. An operation is worth about the same
// wherever it stands, some edges matter more than others, and a cell without a way from its input to its output learns nothing.
import { type KeyedRandom, keyedRandom } from '../../kernel/index.ts'
import { effectsOfAxes, type MadeTable, noisyTable, standard } from './noisy-table.ts'
import { type SearchTable, stridesOf, tableTruth } from './search-table.ts'

/** From node, to node. */
const edges = [
  [0, 1],
  [0, 2],
  [1, 2],
  [0, 3],
  [1, 3],
  [2, 3],
] as const
const operations = ['none', 'skip', 'small', 'large', 'pool'] as const
/** What an operation is worth wherever it stands, beside what it is worth on its own edge. */
const sharedWorth = 0.75

export function cellTable({ seed, place }: MadeTable): SearchTable {
  const draw = keyedRandom(seed, 'cells', place)
  const worth = [-1.5, ...operations.slice(1).map(() => draw.normal())]
  const own = edges.map(() => operations.map(() => draw.normal()))
  const merits = effectsOfAxes({
    sizes: edges.map(() => operations.length),
    weights: edges.map(() => 0.3 + draw.float()),
    main: (axis, place) =>
      Math.sqrt(sharedWorth) * (worth[place] ?? 0) + Math.sqrt(1 - sharedWorth) * (own[axis]?.[place] ?? 0),
    shares: { pairs: 0.15 + 0.15 * draw.float(), triples: 0.05 + 0.1 * draw.float(), own: 0.04 * draw.float() },
    draw,
  })
  for (let cell = 0; cell < merits.length; cell++) {
    // The better, the smaller the steps: accuracy has a ceiling.
    merits[cell] = -Math.exp(-(merits[cell] ?? 0) / 2) - (isCut(cell) ? 5 : 0)
  }
  const axes = edges.map((_, edge) => ({ name: `edge${edge}`, values: [...operations] }))
  return noisyTable({ name: `cells-${place}`, axes, merits, seeds: 3, gap: 1.5 + 2.5 * draw.float(), draw })
}

function isCut(cell: number): boolean {
  const reached = [true, false, false, false]
  for (const [edge, [from, to]] of edges.entries()) {
    const isOpen = Math.floor(cell / operations.length ** (edges.length - 1 - edge)) % operations.length !== 0
    if (isOpen && reached[from]) reached[to] = true
  }
  return !reached[3]
}

// Grids of hyperparameters, as in FC-Net and HPOBench: few values each, most of them in order, one that matters more than all others
// together, and hills whose top moves with another knob.
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

// NK landscapes (Kauffman 1993): the merit of N bits is the mean of N parts, each a random function of its bit and K others. K = 0
// is a smooth hill; the larger K, the more false peaks.
const seeds = 3
/** Noise of a seed, beside the gap from the good to the target. */
const noiseOfGap = 0.5

export function nkTable({
  n,
  k,
  seed,
}: {
  readonly n: number
  readonly k: number
  readonly seed: number
}): SearchTable {
  if (!(n >= 2 && n <= 20 && k >= 0 && k < n)) throw new RangeError(`no NK landscape has N = ${n} and K = ${k}`)
  const draw = keyedRandom(seed, 'nk', n, k)
  const parts = Array.from({ length: n }, (_, bit) => ({
    bits: [
      bit,
      ...draw.shuffle(Array.from({ length: n }, (_, other) => other).filter((other) => other !== bit)).slice(0, k),
    ],
    merits: Float64Array.from({ length: 2 ** (k + 1) }, () => draw.float()),
  }))
  const merits = new Float64Array(2 ** n)
  for (let config = 0; config < merits.length; config++) {
    let sum = 0
    for (const { bits, merits } of parts) {
      let state = 0
      for (const bit of bits) state = 2 * state + ((config >> bit) & 1)
      sum += merits[state] ?? 0
    }
    merits[config] = sum / n
  }
  const table = {
    name: `nk-${n}-${k}`,
    direction: 'max' as const,
    seeds,
    // Row-major: the first axis is the highest bit.
    axes: Array.from({ length: n }, (_, axis) => ({ name: `bit${n - 1 - axis}`, values: [false, true] })),
  }
  const exact = tableTruth({ ...table, seeds: 1, values: Float32Array.from(merits) })
  const sorted = Float64Array.from(merits).sort().reverse()
  const sd = noiseOfGap * (exact.target - (sorted[Math.floor(merits.length / 200)] ?? 0))
  const values = new Float32Array(merits.length * seeds)
  for (let i = 0; i < values.length; i++) values[i] = (merits[Math.floor(i / seeds)] ?? 0) + sd * draw.normal()
  return { ...table, values }
}

// Traps: a broad hill that every small step leads up, and far from its top a narrower and higher one. Who only climbs ends on the first.
const axesCount = 6
const valuesCount = 5
/** Values in which the two tops differ. */
const distance = 4
/** Values that may differ from the higher top and still be on its hill. */
const reach = 2

export function trapTable({ seed, place }: MadeTable): SearchTable {
  const draw = keyedRandom(seed, 'traps', place)
  const sizes = Array.from({ length: axesCount }, () => valuesCount)
  const broad = sizes.map((size) => draw.int(size))
  const moved = new Set(draw.shuffle(broad.map((_, axis) => axis)).slice(0, distance))
  const high = broad.map((place, axis) =>
    moved.has(axis) ? (place + 1 + draw.int(valuesCount - 1)) % valuesCount : place,
  )
  const merits = effectsOfAxes({
    sizes,
    weights: sizes.map(() => 0.6 + 0.4 * draw.float()),
    main: (axis, place) => (place === broad[axis] ? 1.5 : 0) + 0.5 * draw.normal(),
    shares: { pairs: 0.15, triples: 0.05, own: 0.01 },
    draw,
  })
  const best = Math.max(...merits)
  const axes = sizes.map((size, axis) => ({
    name: `knob${axis}`,
    values: Array.from({ length: size }, (_, i) => `v${i}`),
  }))
  const strides = stridesOf({ axes })
  for (let config = 0; config < merits.length; config++) {
    const away = high.filter((place, axis) => Math.floor(config / (strides[axis] ?? 1)) % valuesCount !== place).length
    if (away > reach) continue
    merits[config] = (merits[config] ?? 0) + ((best + 1) * (reach + 1 - away)) / (reach + 1)
  }
  return noisyTable({ name: `traps-${place}`, axes, merits, seeds: 3, gap: 2 + 2 * draw.float(), draw })
}
