// Which knobs matter in a session: the share of the variance of scores that each knob moves by itself, by a surrogate of what was
// measured (main effects of a functional analysis of variance, Hutter, Hoos and Leyton-Brown 2014), averaged over what was tried.
import type { KnobSpec, Knobs, KnobValue } from '../../contracts/index.ts'
import { moments } from '../../stats/index.ts'
import { dimensionsOf, knobsAt, pointOf } from './knob-space.ts'
import { fitSurrogate, type Observed } from './knob-surrogate.ts'

export interface KnobImportance {
  readonly name: string
  /** Share of the predicted variance that it explains alone. */
  readonly share: number
  /** Mean prediction over its values, everything else as it was tried. */
  readonly effects: readonly { readonly value: KnobValue; readonly mean: number }[]
}

/** Fewer candidates say nothing of single knobs. */
const fewest = 8
/** More tell no more, and cost. */
const mostObserved = 200
const mostLevels = 7

/** Knobs that changed, the most important first; undefined where too little was tried. */
export function knobImportance(
  space: Readonly<Record<string, KnobSpec>>,
  tried: readonly { readonly knobs: Knobs; readonly value: number; readonly seeds: number }[],
  noise?: number | undefined,
): KnobImportance[] | undefined {
  const dimensions = dimensionsOf(space)
  const observed = tried.slice(-mostObserved).flatMap(({ knobs, value, seeds }): Observed[] => {
    const point = pointOf(dimensions, knobs)
    return point === undefined ? [] : [{ point, loss: value, seeds }]
  })
  const [centre] = observed
  if (observed.length < fewest || centre === undefined) return undefined
  const moved = dimensions.flatMap((dimension, axis) =>
    new Set(observed.map(({ point }) => point[axis])).size > 1 ? [{ dimension, axis }] : [],
  )
  if (moved.length === 0) return undefined
  const surrogate = fitSurrogate(dimensions, observed, centre.point, noise)
  const total = moments(observed.map(({ point }) => surrogate.predict(point).mean)).variance ?? 0
  if (!(total > 0)) return undefined
  const found = moved.map(({ dimension, axis }): KnobImportance => {
    const values = [...new Set(observed.map(({ point }) => point[axis] ?? 0))].sort((a, b) => a - b)
    const levels = thinned(values)
    const effects = levels.map((level) => {
      const means = observed.map(({ point }) => surrogate.predict(point.with(axis, level)).mean)
      const at = knobsAt(dimensions, centre.point.with(axis, level))
      return { value: at[dimension.name] ?? '', mean: moments(means).mean }
    })
    // Weighed by how often each value was tried: the share of the variance that was there to be explained.
    const nearest = ({ point }: Observed) => nearestOf(levels, point[axis] ?? 0)
    const share = (moments(observed.map((each) => effects[nearest(each)]?.mean ?? 0)).variance ?? 0) / total
    return { name: dimension.name, share: Math.min(1, share), effects }
  })
  return found.sort((a, b) => b.share - a.share || (a.name < b.name ? -1 : 1))
}

function thinned(values: readonly number[]): number[] {
  if (values.length <= mostLevels) return [...values]
  return Array.from(
    { length: mostLevels },
    (_, i) => values[Math.round((i * (values.length - 1)) / (mostLevels - 1))] ?? 0,
  )
}

function nearestOf(levels: readonly number[], at: number): number {
  const distances = levels.map((level) => Math.abs(level - at))
  return distances.indexOf(Math.min(...distances))
}
