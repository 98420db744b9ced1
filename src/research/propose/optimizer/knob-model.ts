// All that is believed about the knobs of one base: what was observed, a surrogate, the border of memory, a distribution.
import type { Attempt, Brief, Knobs, SearchState } from '../../../contracts/index.ts'
import { meanOf } from '../../../stats/index.ts'
import { knobsOf } from '../../experiments/edits/known-knobs.ts'
import { type Dimension, dimensionsOf, keyOf, type Point, pointOf } from '../../surrogate/knob-space.ts'
import { fitSurrogate, type Observed, type Surrogate } from '../../surrogate/knob-surrogate.ts'
import { cholesky, solveCholesky } from '../../surrogate/linear-algebra.ts'
import { type CmaState, foldCmaEs } from './cma-es.ts'

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
export function openKnobModel({ files, state, request }: Brief): KnobModel | undefined {
  const found = knobsOf(files, state)
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
  const drawn = observations.map(({ point, loss }) => ({ point: onLines(point), loss }))
  const runs = observations.map(({ point, failure }) => ({ point, ranOut: failure === 'oom' }))
  const same = state.attempts.filter(({ id }) => structureOf(id) === structure)
  const points = same.flatMap(({ knobs }) => {
    const point = pointOf(dimensions, knobs)
    return point === undefined ? [] : [point]
  })
  return {
    dimensions,
    knobs: found.knobs,
    base,
    observations,
    observed,
    noise,
    surrogate: fitSurrogate(dimensions, observed, base, noise),
    ranOut: fitMemoryBorder(runs, base),
    cma: lines.length === 0 ? undefined : foldCmaEs(onLines(start), drawn),
    tried: new Set([base, ...points].map((point) => keyOf(dimensions, point))),
  }
}

// A run that fell apart must not flatten all differences among those that did not.
function outlier(losses: readonly number[]): number {
  const sorted = [...losses].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0
  const best = sorted[0] ?? 0
  return sorted.length < 3 ? Number.POSITIVE_INFINITY : middle + 4 * Math.max(middle - best, 1e-12)
}

// What the attempts of a session say about its knobs: points with a loss, less what changes of the code and lucky seeds did to it.
interface Observation {
  readonly attempt: Attempt
  readonly point: Point
  /** Lower is better. Undefined: it ended without a score. */
  readonly loss: number | undefined
  readonly seeds: number
  readonly failure: 'oom' | 'other' | undefined
}

/** Failures that say something about the knobs; others are faults of the code or of the machine. */
const telling: ReadonlySet<string> = new Set(['oom', 'timeout', 'divergence', 'crash'])

/**
 * Everything that was observed at points of this space. `noise`: sd of one score around the candidate's own mean; undefined: unknown.
 * Candidates with the same code but for knobs have the same structure: the id of its first.
 */
function observe(state: SearchState, dimensions: readonly Dimension[]) {
  const { losses, noise } = fitSeeds(state)
  const structures = new Map<string, string>()
  const offsets = new Map<string, number>()
  const byId = new Map(state.attempts.map((attempt) => [attempt.id, attempt]))
  const all: Observation[] = []
  for (const attempt of state.attempts) {
    const parent = byId.get(attempt.parents[0] ?? '')
    const above = structures.get(parent?.id ?? '')
    const isNew = parent === undefined || above === undefined || !isTurned(attempt, parent)
    const structure = isNew ? attempt.id : above
    structures.set(attempt.id, structure)
    const loss = losses.get(attempt.id)
    const before = offsets.get(above ?? '') ?? 0
    if (isNew) {
      const own = loss ?? losses.get(parent?.id ?? '')
      const theirs = losses.get(parent?.id ?? '')
      offsets.set(structure, before + (own === undefined || theirs === undefined ? 0 : own - theirs))
    }
    const point = pointOf(dimensions, attempt.knobs)
    const failure = failureOf(attempt)
    // The first of a structure says what its code did; of the knobs it repeats what its parent said.
    const repeats = isNew && parent !== undefined
    if (point === undefined || repeats || (loss === undefined && failure === undefined)) continue
    const own = loss === undefined ? undefined : loss - (offsets.get(structure) ?? 0)
    all.push({ attempt, point, loss: own, seeds: attempt.scores.length, failure })
  }
  return { all, noise, structureOf: (id: string) => structures.get(id) ?? id }
}

function failureOf({ failure, scores }: Attempt): Observation['failure'] {
  if (failure === undefined || !telling.has(failure.class)) return undefined
  if (failure.class === 'oom') return 'oom'
  return scores.length === 0 ? 'other' : undefined
}

// The same number of lines and the same knobs with other values: only literals were changed.
function isTurned(attempt: Attempt, parent: Attempt): boolean {
  const names = Object.keys(attempt.knobs)
  return (
    attempt.lines === parent.lines &&
    names.length === Object.keys(parent.knobs).length &&
    names.every((name) => Object.hasOwn(parent.knobs, name)) &&
    names.some((name) => attempt.knobs[name] !== parent.knobs[name])
  )
}

/** Losses by attempt with the effect of seeds taken out: score = attempt + seed, by alternating means. */
function fitSeeds({ attempts, direction }: SearchState): { losses: Map<string, number>; noise: number | undefined } {
  const sign = direction === 'min' ? 1 : -1
  const scored = attempts.filter(
    ({ scores }) => scores.length > 0 && scores.every(({ value }) => Number.isFinite(value)),
  )
  const seeds = new Map<number, number>()
  const losses = new Map<string, number>()
  for (let round = 0; round < 20; round++) {
    for (const { id, scores } of scored)
      losses.set(id, meanOf(scores.map(({ seed, value }) => sign * value - (seeds.get(seed) ?? 0))))
    const rest = new Map<number, number[]>()
    for (const { id, scores } of scored)
      for (const { seed, value } of scores)
        rest.set(seed, [...(rest.get(seed) ?? []), sign * value - (losses.get(id) ?? 0)])
    for (const [seed, values] of rest) seeds.set(seed, values.length < 2 ? 0 : meanOf(values))
  }
  const residuals = scored.flatMap(({ id, scores }) =>
    scores.map(({ seed, value }) => sign * value - (losses.get(id) ?? 0) - (seeds.get(seed) ?? 0)),
  )
  const free = residuals.length - losses.size - seeds.size + 1
  const squares = residuals.reduce((sum, each) => sum + each * each, 0)
  return { losses, noise: free > 0 ? Math.sqrt(squares / free) : undefined }
}

// Where memory runs out, learned from the candidates for which it did. Memory is mostly a product of sizes; knobs that go by factors
// lie on a line by their logarithm, so the border is near a plane: a logistic regression with a weak prior.
const steep = 6 // of coordinates: a line of length 1 covers a factor of a hundred or so
const prior: number = 0.05
const rounds = 25

/** The chance that a point runs out of memory; 0 while none did. */
export function fitMemoryBorder(
  runs: readonly { readonly point: Point; readonly ranOut: boolean }[],
  centre: Point,
): (point: Point) => number {
  if (!runs.some(({ ranOut }) => ranOut)) return () => 0
  const row = (point: Point) => [1, ...point.map((value, i) => steep * (value - (centre[i] ?? 0)))]
  const rows = runs.map(({ point }) => row(point))
  const size = rows[0]?.length ?? 1
  let weights = new Array<number>(size).fill(0)
  const chance = (values: readonly number[]) => {
    const z = values.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0)
    return 1 / (1 + Math.exp(-Math.min(30, Math.max(-30, z))))
  }
  for (let round = 0; round < rounds; round++) {
    const gradient = Float64Array.from(weights, (weight) => prior * weight)
    const hessian = weights.map((_, i) => new Float64Array(i + 1).fill(prior, i)) // its lower triangle
    for (const [place, values] of rows.entries()) {
      const p = chance(values)
      const error = p - (runs[place]?.ranOut ? 1 : 0)
      const curve = Math.max(p * (1 - p), 1e-4)
      for (let i = 0; i < size; i++) {
        const left = values[i] ?? 0
        gradient[i] = (gradient[i] ?? 0) + error * left
        const line = hessian[i] as Float64Array // a line per weight
        for (let j = 0; j <= i; j++) line[j] = (line[j] ?? 0) + curve * left * (values[j] ?? 0)
      }
    }
    const step = solveCholesky(cholesky(hessian), gradient)
    weights = weights.map((weight, i) => weight - (step[i] ?? 0))
  }
  return (point) => chance(row(point))
}
