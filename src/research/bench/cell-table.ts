// Cells of a network, as in NAS-Bench-201: six edges between four nodes, five operations each. An operation is worth about the same
// wherever it stands, some edges matter more than others, and a cell without a way from its input to its output learns nothing.
import { keyedRandom } from '../../kernel/index.ts'
import { effectsOfAxes } from './effects-of-axes.ts'
import { type MadeTable, noisyTable } from './noisy-table.ts'
import type { SearchTable } from './search-table.ts'

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
