// Traps: a broad hill that every small step leads up, and far from its top a narrower and higher one. Who only climbs ends on the first.
import { keyedRandom } from '../../kernel/index.ts'
import { effectsOfAxes } from './effects-of-axes.ts'
import { type MadeTable, noisyTable } from './noisy-table.ts'
import { type SearchTable, stridesOf } from './search-table.ts'

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
