// What helped before, as an additive Bayesian model: the merit of a candidate is a sum of effects of its knobs, of pairs of its
// knobs, and of the changes it is made of with their families and categories, each effect normal around 0. It is computed in the
// space of attempts (Rasmussen and Williams 2006, algorithm 2.1), where thousands of pairs cost nothing.
import type { Attempt, CandidateIdea, SearchState } from '../../contracts/index.ts'
import { cholesky, solveLower, solveUpper, type Triangle } from './cholesky.ts'
import { type KnobAxes, knobAxes } from './describe-knobs.ts'
import { inCommon, type Lineage, type Lineages, lineages } from './lineage.ts'
import { normalScores } from './normal-scores.ts'
import { meritOf } from './standing.ts'

/** Variances of the effects, beside a variance of scores of 1. */
const variance = { knobs: 1, pairs: 1, change: 0.3, family: 0.2, category: 0.1 }
/** Variance of one seed, as a share of that of the knobs and their pairs. */
const noiseShare = 0.1
/** The cost grows with the cube of these: the newest and the best are remembered. */
const mostRemembered = 400

export interface MemoryModel {
  /** Attempts that were scored, by what the model believes of them, best first. */
  readonly best: readonly Attempt[]
  /** What to expect of a candidate, in standard deviations of all that was tried. */
  predict(candidate: CandidateIdea, parents: readonly string[]): { readonly mean: number; readonly sd: number }
}

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
  const remembered = memorable(state)
  const ways = lineages(state.attempts)
  const { axes, points, factor } = factorOf(state, remembered, ways)
  const n = remembered.length
  const scores = normalScores(remembered.map(({ merit }) => merit))
  const weights = solveUpper(factor, solveLower(factor, scores))
  // The posterior mean at what was tried is its score less its share of noise.
  const beliefs = scores.map((score, i) => score - noiseOf(remembered[i]?.attempt) * (weights[i] ?? 0))
  const order = remembered.map((_, i) => i).filter((i) => Number.isFinite(remembered[i]?.merit))
  order.sort((a, b) => (beliefs[b] ?? 0) - (beliefs[a] ?? 0) || a - b)
  return {
    best: order.flatMap((i) => remembered[i]?.attempt ?? []),
    predict({ idea, knobs, fingerprint }, parents) {
      const { family, category } = idea
      const from = idea.parents.length > 0 ? idea.parents : parents
      const way = ways.grown({ id: fingerprint, parents: from, family, category, knobs })
      const point: Point = { knobs: axes.describe(knobs), way }
      const alike = new Float64Array(n)
      let mean = 0
      for (let i = 0; i < n; i++) {
        const like = likeness(axes, point, points[i] as Point) // as many points as were remembered
        alike[i] = like
        mean += like * (weights[i] as number)
      }
      let left = likeness(axes, point, point)
      for (const part of solveLower(factor, alike)) left -= part * part
      return { mean, sd: Math.sqrt(Math.max(left, 0)) }
    },
  }
}

type Point = { readonly knobs: Int32Array; readonly way: Lineage }

type Factored = {
  readonly attempts: readonly Attempt[]
  readonly space: SearchState['space']
  readonly axes: KnobAxes
  readonly points: readonly Point[]
  readonly factor: Triangle
}

const factored = new WeakMap<Attempt, Factored>()

// A session asks again after every attempt, and all rows but the last are the same: what was worked out for its baseline is grown.
function factorOf(state: SearchState, remembered: readonly Remembered[], ways: Lineages): Factored {
  const attempts = remembered.map(({ attempt }) => attempt)
  const [first] = attempts
  const before = first === undefined ? undefined : factored.get(first)
  const knobs = attempts.map((attempt) => attempt.knobs)
  const grows =
    before !== undefined &&
    before.space === state.space &&
    before.attempts.length <= attempts.length &&
    before.attempts.every((attempt, i) => attempt === attempts[i]) &&
    knobs.slice(before.attempts.length).every((each) => before.axes.covers(each))
  const axes = grows ? before.axes : knobAxes(state.space, knobs)
  const points = grows ? [...before.points] : []
  const rows: Float64Array[] = []
  for (const attempt of attempts.slice(points.length)) {
    const point = { knobs: axes.describe(attempt.knobs), way: ways.of(attempt.id) }
    points.push(point)
    const row = Float64Array.from(points, (other) => likeness(axes, point, other))
    row[points.length - 1] = likeness(axes, point, point) + noiseOf(attempt)
    rows.push(row)
  }
  const factor = cholesky(rows, grows ? before.factor : [])
  const result = { attempts, space: state.space, axes, points, factor }
  if (first !== undefined) factored.set(first, result)
  return result
}

function likeness(axes: KnobAxes, a: Point, b: Point): number {
  const { single, pairs } = axes.compare(a.knobs, b.knobs)
  return variance.knobs * single + variance.pairs * pairs + shared(a.way, b.way)
}

function noiseOf(attempt: Attempt | undefined): number {
  return (noiseShare * (variance.knobs + variance.pairs)) / Math.max(1, attempt?.scores.length ?? 1)
}

function shared(a: Lineage, b: Lineage): number {
  const { changes, families, categories } = inCommon(a, b)
  return variance.change * changes + variance.family * families + variance.category * categories
}

type Remembered = { readonly attempt: Attempt; readonly merit: number }

// A candidate that failed is worse than all others: so the border of what fits and runs is learned. A machine that failed tells
// nothing of the candidate.
function memorable({ attempts, direction }: SearchState): Remembered[] {
  const all: Remembered[] = []
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined) all.push({ attempt, merit })
    else if (attempt.verdict === 'failed' && attempt.failure?.class !== 'infra') {
      all.push({ attempt, merit: Number.NEGATIVE_INFINITY })
    }
  }
  if (all.length <= mostRemembered) return all
  const newest = all.slice(-mostRemembered / 2)
  const best = all.slice(0, -mostRemembered / 2).sort((a, b) => b.merit - a.merit)
  return [...best.slice(0, mostRemembered / 2), ...newest].sort((a, b) => a.attempt.number - b.attempt.number)
}
