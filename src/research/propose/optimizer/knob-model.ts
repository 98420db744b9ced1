// All that is believed about the knobs of one base: what was observed, a surrogate, the border of memory, a distribution.
import type { Brief, Knobs } from '../../../contracts/index.ts'
import { findKnobs } from '../code/find-knobs.ts'
import { type CmaState, foldCmaEs } from './cma-es.ts'
import { type Dimension, dimensionsOf, keyOf, type Point, pointOf } from './knob-space.ts'
import { fitMemoryBorder } from './memory-border.ts'
import { type Observation, observe } from './observe.ts'
import { fitSurrogate, type Observed, type Surrogate } from './surrogate.ts'

export interface KnobModel {
  readonly dimensions: readonly Dimension[]
  /** Knobs of the base, as its code has them. */
  readonly knobs: Knobs
  readonly base: Point
  readonly observations: readonly Observation[]
  readonly observed: readonly Observed[]
  readonly surrogate: Surrogate
  readonly noise: number | undefined
  /** Chance of running out of memory. */
  ranOut(point: Point): number
  /** Over the line dimensions, in their order. */
  readonly cma: CmaState | undefined
  /** Keys of the points that this code was tried at. */
  readonly tried: ReadonlySet<string>
}

// More says little and costs the third power.
const mostObservations = 150

/** The model for a brief; undefined: there is no knob to turn. */
export function openKnobModel({
  files,
  state,
  request,
}: Pick<Brief, 'files' | 'state' | 'request'>): KnobModel | undefined {
  const found = findKnobs(files, state.space)
  const isDeclared = Object.keys(state.space).length > 0
  const space = Object.fromEntries(
    Object.entries(found.space).filter(([name]) => !isDeclared || Object.hasOwn(state.space, name)),
  )
  const dimensions = dimensionsOf(space).filter(({ name, spec, kind }) =>
    pointOf([{ name, spec, kind, levels: 2 }], found.knobs),
  )
  const base = pointOf(dimensions, found.knobs)
  if (dimensions.length === 0 || base === undefined) return undefined
  const { all, noise, structureOf } = observe(state, dimensions)
  const observations = all.slice(-mostObservations)
  const losses = observations.flatMap(({ loss }) => (loss === undefined ? [] : [loss]))
  const worst = Math.max(...losses)
  const spread = losses.length > 1 ? worst - Math.min(...losses) : Math.abs(worst) * 0.1
  const observed = observations.flatMap(({ point, loss, seeds, failure }) => {
    if (loss !== undefined) return [{ point, loss: Math.min(loss, outlier(losses)), seeds }]
    return failure === 'other' && losses.length > 0
      ? [{ point, loss: Math.min(worst + 0.2 * spread, outlier(losses)), seeds: 1 }]
      : []
  })
  const structure = structureOf(request.parents[0] ?? state.incumbent)
  const lines = dimensions.flatMap(({ kind }, i) => (kind === 'line' ? [i] : []))
  const onLines = (point: Point) => lines.map((i) => point[i] ?? 0)
  const start = observations[0]?.point ?? base
  const cma =
    lines.length === 0
      ? undefined
      : foldCmaEs(
          onLines(start),
          observations.map(({ point, loss }) => ({ point: onLines(point), loss })),
        )
  return {
    dimensions,
    knobs: found.knobs,
    base,
    observations,
    observed,
    noise,
    surrogate: fitSurrogate(dimensions, observed, base, noise),
    ranOut: fitMemoryBorder(
      observations.map(({ point, failure }) => ({ point, ranOut: failure === 'oom' })),
      base,
    ),
    cma,
    tried: new Set([
      keyOf(dimensions, base),
      ...state.attempts
        .filter(({ id }) => structureOf(id) === structure)
        .flatMap(({ knobs }) => {
          const point = pointOf(dimensions, knobs)
          return point === undefined ? [] : [keyOf(dimensions, point)]
        }),
    ]),
  }
}

// A run that fell apart must not flatten all differences among those that did not.
function outlier(losses: readonly number[]): number {
  const sorted = [...losses].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0
  const best = sorted[0] ?? 0
  return sorted.length < 3 ? Number.POSITIVE_INFINITY : middle + 4 * Math.max(middle - best, 1e-12)
}
