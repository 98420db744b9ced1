// A table of finished trainings: every configuration of a small space, several seeds each.
import type { Direction, KnobSpec, KnobValue } from '../../contracts/index.ts'

export interface SearchTable {
  readonly name: string
  readonly direction: Direction
  readonly seeds: number
  readonly axes: readonly { readonly name: string; readonly values: readonly KnobValue[] }[]
  /** Row-major over axes in order, seeds innermost; what is not finite is missing. */
  readonly values: Float32Array
}

/** Numbers are taken to lie in order, words not. */
export function spaceOf({ axes }: Pick<SearchTable, 'axes'>): Record<string, KnobSpec> {
  return Object.fromEntries(
    axes.map(({ name, values }): [string, KnobSpec] => [
      name,
      { kind: 'choice', values: [...values], ordered: values.every((value) => typeof value === 'number') },
    ]),
  )
}

/** Distance in configurations from a value of each axis to the next. */
export function stridesOf({ axes }: Pick<SearchTable, 'axes'>): number[] {
  const strides = axes.map(() => 1)
  for (let axis = axes.length - 2; axis >= 0; axis--) {
    strides[axis] = (strides[axis + 1] ?? 1) * (axes[axis + 1]?.values.length ?? 1)
  }
  return strides
}

// What is true of a table: the mean of every configuration over its seeds, what counts as found, where a search starts, and whether
// seeds can tell the best from the good at all.
/** The target: a configuration in this share of the best. */
const targetShare = 0.001
/** Those that a search meets on its way to the target. */
const goodShare = 0.01
/** Smallest way from the median of the good to the target, in standard deviations of a seed. */
const smallestGap = 0.9
/** Share of configurations around the median of which one is the start. */
const startShare = 0.01

export interface TableTruth {
  /** Mean over seeds, turned so that more is better; NaN: no seed of it was finished. */
  readonly merits: Float64Array
  /** Least merit of what counts as found. */
  readonly target: number
  /** Configurations near the median, any of which may be the start. */
  readonly starts: readonly number[]
  /** From the median of the best 1 % to the target, in standard deviations of a seed among them. */
  readonly gap: number
  /** Luck decides who is best: not counted. */
  readonly flat: boolean
}

export function tableTruth({ values, seeds, direction }: SearchTable): TableTruth {
  const count = values.length / seeds
  const merits = new Float64Array(count)
  const spreads = new Float64Array(count)
  for (let config = 0; config < count; config++) {
    const { mean, variance } = momentsOf(values, config * seeds, seeds)
    merits[config] = direction === 'max' ? mean : -mean
    spreads[config] = variance
  }
  const order = Array.from(merits.keys()).filter((config) => !Number.isNaN(merits[config]))
  order.sort((a, b) => (merits[b] ?? 0) - (merits[a] ?? 0) || a - b)
  const target = meritAt(merits, order, Math.max(1, Math.floor(order.length * targetShare)) - 1)
  const good = order.slice(0, Math.max(1, Math.floor(order.length * goodShare)))
  const middle = meritAt(merits, good, (good.length - 1) >> 1)
  const seedSd = pooledSd(good, spreads)
  const gap = target === middle ? 0 : (target - middle) / seedSd
  const band = Math.max(1, Math.floor(order.length * startShare))
  const from = Math.floor((order.length - band) / 2)
  return { merits, target, starts: order.slice(from, from + band), gap, flat: !(gap >= smallestGap) }
}

function meritAt(merits: Float64Array, order: readonly number[], place: number): number {
  return merits[order[place] ?? -1] ?? Number.NaN
}

// Missing seeds are left out; the variance of a single one is unknown.
function momentsOf(values: Float32Array, from: number, seeds: number): { mean: number; variance: number } {
  let n = 0
  let mean = 0
  let squares = 0
  for (let i = from; i < from + seeds; i++) {
    const value = values[i] ?? Number.NaN
    if (!Number.isFinite(value)) continue
    n++
    const step = value - mean
    mean += step / n
    squares += step * (value - mean)
  }
  return { mean: n === 0 ? Number.NaN : mean, variance: n < 2 ? Number.NaN : squares / (n - 1) }
}

// Noise may differ by orders of magnitude between good and bad configurations; what matters is that among the good.
function pooledSd(configs: readonly number[], spreads: Float64Array): number {
  const known = configs.map((config) => spreads[config] ?? Number.NaN).filter((spread) => !Number.isNaN(spread))
  return Math.sqrt(known.reduce((sum, spread) => sum + spread, 0) / Math.max(1, known.length))
}
