// Knobs as points: a range or an ordered choice is a line from 0 to 1, any other choice the number of its value.
import type { KnobSpec, Knobs, KnobValue } from '../../contracts/index.ts'

export interface Dimension {
  readonly name: string
  readonly spec: KnobSpec
  readonly kind: 'line' | 'category'
  /** How many values it has; undefined: any number. */
  readonly levels: number | undefined
}

export type Point = readonly number[]

/** The dimensions of a space, by name. A knob that has one value has none. */
export function dimensionsOf(space: Readonly<Record<string, KnobSpec>>): Dimension[] {
  return Object.keys(space)
    .sort()
    .flatMap((name) => {
      const spec = space[name]
      if (spec === undefined) return []
      const levels = levelsOf(spec)
      if (levels !== undefined && levels < 2) return []
      const isLine = spec.kind === 'range' || spec.ordered || spec.values.length === 2
      return [{ name, spec, kind: isLine ? ('line' as const) : ('category' as const), levels }]
    })
}

function levelsOf(spec: KnobSpec): number | undefined {
  if (spec.kind === 'choice') return spec.values.length
  if (!(spec.high > spec.low)) return 1
  return spec.integer ? Math.floor(spec.high) - Math.ceil(spec.low) + 1 : undefined
}

/** Where the knobs of a candidate lie; undefined: it lacks one of them. */
export function pointOf(dimensions: readonly Dimension[], knobs: Knobs): number[] | undefined {
  const point = dimensions.map(({ name, spec, kind }) => {
    const value = Object.hasOwn(knobs, name) ? knobs[name] : undefined
    return value === undefined ? undefined : coordinate(spec, kind, value)
  })
  return point.every((each) => each !== undefined) ? point : undefined
}

function coordinate(spec: KnobSpec, kind: Dimension['kind'], value: KnobValue): number | undefined {
  if (spec.kind === 'choice') {
    const place = placeIn(spec.values, value)
    if (place === undefined) return undefined
    return kind === 'line' ? place / (spec.values.length - 1) : place
  }
  if (typeof value !== 'number') return undefined
  const [low, high, at] = scaled(spec, value)
  return clamp((at - low) / (high - low))
}

// A number that is not in the list lies at its nearest neighbour.
function placeIn(values: readonly KnobValue[], value: KnobValue): number | undefined {
  const exact = values.indexOf(value)
  if (exact >= 0) return exact
  if (typeof value !== 'number') return undefined
  const distances = values.map((each) => (typeof each === 'number' ? Math.abs(each - value) : Number.POSITIVE_INFINITY))
  const nearest = Math.min(...distances)
  return Number.isFinite(nearest) ? distances.indexOf(nearest) : undefined
}

function scaled(spec: Extract<KnobSpec, { kind: 'range' }>, value: number): [number, number, number] {
  if (!spec.log || !(spec.low > 0)) return [spec.low, spec.high, value]
  return [Math.log(spec.low), Math.log(spec.high), Math.log(Math.max(value, spec.low * 1e-6))]
}

/** The knobs at a point: whole numbers whole, others with as many digits as a person would write. */
export function knobsAt(dimensions: readonly Dimension[], point: Point): Knobs {
  return Object.fromEntries(dimensions.map((dimension, i) => [dimension.name, valueAt(dimension, point[i] ?? 0)]))
}

function valueAt({ spec, kind }: Dimension, at: number): KnobValue {
  if (spec.kind === 'choice') {
    const last = spec.values.length - 1
    const place = Math.round(kind === 'line' ? clamp(at) * last : at)
    return spec.values[Math.min(last, Math.max(0, place))] ?? ''
  }
  const [low, high] = scaled(spec, spec.low)
  const raw = low + clamp(at) * (high - low)
  const value = spec.log && spec.low > 0 ? Math.exp(raw) : raw
  if (spec.integer) return Math.min(Math.floor(spec.high), Math.max(Math.ceil(spec.low), Math.round(value)))
  return Math.min(spec.high, Math.max(spec.low, Number(value.toPrecision(3))))
}

/** The point that the knobs of a point really have, after rounding. */
export function settled(dimensions: readonly Dimension[], point: Point): number[] {
  return pointOf(dimensions, knobsAt(dimensions, point)) ?? [...point]
}

export function keyOf(dimensions: readonly Dimension[], point: Point): string {
  return JSON.stringify(Object.values(knobsAt(dimensions, point)))
}

export function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}
