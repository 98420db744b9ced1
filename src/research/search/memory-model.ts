// What helped before, as an additive Bayesian model: the merit of a candidate is a sum of effects of its knobs, of pairs and triples of
// them, and of the changes it is made of with their families and categories, each effect normal around 0. It is computed in the
// space of attempts (Rasmussen and Williams 2006, algorithm 2.1), where thousands of effects cost nothing.
import type { Attempt, CandidateIdea, Knobs, SearchState } from '../../contracts/index.ts'
import { cholesky, solveLower, solveUpper, type Triangle } from './cholesky.ts'
import { type KnobAxes, knobAxes } from './describe-knobs.ts'
import { fitScales } from './fit-scales.ts'
import { knobLikeness, type Scales, usualScales } from './knob-kernel.ts'
import { inCommon, type Lineage, type Lineages, lineages } from './lineage.ts'
import { normalScores } from './normal-scores.ts'
import { memorable, mostMemorable, type Remembered } from './remembered.ts'

/** Variances of the effects of changes, beside a variance of scores of 1. */
const variance = { change: 0.3, family: 0.2, category: 0.1 }
/** Attempts after which the scales are fitted, for the first time and at last, and the growth after which it is done again. */
const fitted = { first: 8, last: 200, growth: 1.4 }

export interface MemoryModel {
  /** Attempts that were scored, by what the model believes of them, best first. */
  readonly best: readonly Attempt[]
  /** What the model believes of the first of them. */
  readonly top: number
  /** What to expect of a candidate. */
  predict(candidate: CandidateIdea, parents: readonly string[]): Belief
  /** What to expect of a change of knobs that nobody has proposed. */
  imagine(knobs: Knobs, parents: readonly string[]): Belief
}

/** A normal belief, in standard deviations of all that was tried. */
type Belief = { readonly mean: number; readonly sd: number }

const kept = new WeakMap<SearchState, MemoryModel>()

/** The model of a state. It is a function of the state alone, so one state is worked out once. */
export function memoryModel(state: SearchState): MemoryModel {
  const known = kept.get(state)
  if (known !== undefined) return known
  const model = buildModel(state)
  kept.set(state, model)
  return model
}

function buildModel(state: SearchState): MemoryModel {
  const known = memorable(state)
  const remembered = mostMemorable(known)
  const ways = lineages(state.attempts)
  const { axes, scales, points, factor } = factorOf(state, { known, remembered, ways })
  const n = remembered.length
  const scores = normalScores(remembered.map(({ merit }) => merit))
  const weights = solveUpper(factor, solveLower(factor, scores))
  // The posterior mean at what was tried is its score less its share of noise.
  const beliefs = scores.map((score, i) => score - noiseOf(remembered[i]?.attempt, scales) * (weights[i] ?? 0))
  const order = remembered.map((_, i) => i).filter((i) => Number.isFinite(remembered[i]?.merit))
  order.sort((a, b) => (beliefs[b] ?? 0) - (beliefs[a] ?? 0) || a - b)
  const likeness = likenessOf(axes, scales)
  const beliefAt = (point: Point): Belief => {
    const alike = new Float64Array(n)
    let mean = 0
    for (let i = 0; i < n; i++) {
      const like = likeness(point, points[i] as Point) // as many points as were remembered
      alike[i] = like
      mean += like * (weights[i] as number)
    }
    let left = likeness(point, point)
    for (const part of solveLower(factor, alike)) left -= part * part
    return { mean, sd: Math.sqrt(Math.max(left, 0)) }
  }
  return {
    best: order.flatMap((i) => remembered[i]?.attempt ?? []),
    top: beliefs[order[0] ?? -1] ?? 0,
    predict({ idea, knobs, fingerprint }, parents) {
      const { family, category } = idea
      const from = idea.parents.length > 0 ? idea.parents : parents
      return beliefAt({
        knobs: axes.describe(knobs),
        way: ways.grown({ id: fingerprint, parents: from, family, category, knobs }),
      })
    },
    imagine(knobs, parents) {
      const change = { id: '', parents, family: '', category: 'hyperparameter', knobs } as const
      return beliefAt({ knobs: axes.describe(knobs), way: ways.grown(change) })
    },
  }
}

type Point = { readonly knobs: Int32Array; readonly way: Lineage }

type Factored = {
  readonly attempts: readonly Attempt[]
  readonly space: SearchState['space']
  readonly axes: KnobAxes
  /** Attempts that the scales were fitted to. */
  readonly fittedTo: readonly Attempt[]
  readonly scales: Scales
  readonly points: readonly Point[]
  readonly factor: Triangle
}

type Past = {
  readonly known: readonly Remembered[]
  readonly remembered: readonly Remembered[]
  readonly ways: Lineages
}

const factored = new WeakMap<Attempt, Factored>()

// A session asks again after every attempt, and all rows but the last are the same: what was worked out for its baseline is grown.
function factorOf(state: SearchState, { known, remembered, ways }: Past): Factored {
  const attempts = remembered.map(({ attempt }) => attempt)
  const [first] = attempts
  const kept = first === undefined ? undefined : factored.get(first)
  const before =
    kept !== undefined && kept.space === state.space && attempts.every(({ knobs }) => kept.axes.covers(knobs))
      ? kept
      : undefined
  const axes =
    before?.axes ??
    knobAxes(
      state.space,
      attempts.map(({ knobs }) => knobs),
    )
  const toFit = known.slice(0, axes.count === 0 ? 0 : fittedCount(known.length))
  const fittedTo = toFit.map(({ attempt }) => attempt)
  const fits =
    before !== undefined && before.fittedTo.length === fittedTo.length && startsWith(fittedTo, before.fittedTo)
  const scales = fits ? before.scales : scalesOf(axes, toFit, ways)
  const grows = fits && startsWith(attempts, before.attempts)
  const points = grows ? [...before.points] : []
  const likeness = likenessOf(axes, scales)
  const rows: Float64Array[] = []
  for (const attempt of attempts.slice(points.length)) {
    const point = { knobs: axes.describe(attempt.knobs), way: ways.of(attempt.id) }
    points.push(point)
    const row = Float64Array.from(points, (other) => likeness(point, other))
    row[points.length - 1] = likeness(point, point) + noiseOf(attempt, scales)
    rows.push(row)
  }
  const factor = cholesky(rows, grows ? before.factor : [])
  const result = { attempts, space: state.space, axes, fittedTo, scales, points, factor }
  if (first !== undefined) factored.set(first, result)
  return result
}

function startsWith(attempts: readonly Attempt[], before: readonly Attempt[]): boolean {
  return before.length <= attempts.length && before.every((attempt, i) => attempt === attempts[i])
}

// A function of how many there are, so that a session that is taken up again goes on as it would have.
function fittedCount(known: number): number {
  let count = 0
  for (let next = fitted.first; next <= Math.min(known, fitted.last); next = Math.ceil(next * fitted.growth))
    count = next
  return count
}

function scalesOf(axes: KnobAxes, past: readonly Remembered[], ways: Lineages): Scales {
  if (past.length === 0) return usualScales(axes.count)
  const points = past.map(({ attempt }) => ({ knobs: axes.describe(attempt.knobs), way: ways.of(attempt.id) }))
  const pairs = (points.length * (points.length + 1)) / 2
  const parts = new Float64Array(pairs * (axes.count + 1))
  const besides = new Float64Array(pairs)
  let at = 0
  for (const [i, a] of points.entries()) {
    for (const b of points.slice(0, i + 1)) {
      axes.compare(a.knobs, b.knobs, parts, at * (axes.count + 1))
      besides[at++] = shared(a.way, b.way)
    }
  }
  const seeds = past.map(({ attempt }) => seedsOf(attempt))
  return fitScales({ axes: axes.count, parts, besides, seeds, scores: normalScores(past.map(({ merit }) => merit)) })
}

function likenessOf(axes: KnobAxes, scales: Scales): (a: Point, b: Point) => number {
  const parts = new Float64Array(axes.count + 1)
  return (a, b) => {
    axes.compare(a.knobs, b.knobs, parts)
    return knobLikeness(parts, 0, scales) + shared(a.way, b.way)
  }
}

function noiseOf(attempt: Attempt | undefined, scales: Scales): number {
  return (scales[scales.length - 1] ?? 0) / seedsOf(attempt)
}

function seedsOf(attempt: Attempt | undefined): number {
  return Math.max(1, attempt?.scores.length ?? 1)
}

function shared(a: Lineage, b: Lineage): number {
  const { changes, families, categories } = inCommon(a, b)
  return variance.change * changes + variance.family * families + variance.category * categories
}
