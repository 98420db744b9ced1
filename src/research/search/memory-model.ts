// What helped before, as an additive Bayesian model: the merit of a candidate is a sum of effects of its knobs, of pairs of its
// knobs, and of the changes it is made of with their families and categories, each effect normal around 0. It is computed in the
// space of attempts (Rasmussen and Williams 2006, algorithm 2.1), where thousands of pairs cost nothing.
import type { Attempt, CandidateIdea, SearchState } from '../../contracts/index.ts'
import { cholesky, solveLower, solveUpper } from './cholesky.ts'
import { knobAxes } from './describe-knobs.ts'
import { inCommon, type Lineage, lineages } from './lineage.ts'
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
  const n = remembered.length
  const axes = knobAxes(
    state.space,
    remembered.map(({ attempt }) => attempt.knobs),
  )
  const ways = lineages(state.attempts)
  const points = remembered.map(({ attempt }) => ({
    knobs: axes.describe(attempt.knobs),
    way: ways.of(attempt.id),
  }))
  type Point = (typeof points)[number]
  const likeness = (a: Point, b: Point): number => {
    const { single, pairs } = axes.compare(a.knobs, b.knobs)
    return variance.knobs * single + variance.pairs * pairs + shared(a.way, b.way)
  }
  const noise = noiseShare * (variance.knobs + variance.pairs)
  const noises = remembered.map(({ attempt }) => noise / Math.max(1, attempt.scores.length))
  const factor = cholesky(
    points.map((point, i) => {
      const row = Float64Array.from({ length: i + 1 }, (_, j) => likeness(point, points[j] as Point)) // j <= i
      row[i] = (row[i] ?? 0) + (noises[i] ?? 0)
      return row
    }),
  )
  const scores = normalScores(remembered.map(({ merit }) => merit))
  const weights = solveUpper(factor, solveLower(factor, scores))
  // The posterior mean at what was tried is its score less its share of noise.
  const beliefs = scores.map((score, i) => score - (noises[i] ?? 0) * (weights[i] ?? 0))
  const order = remembered.map((_, i) => i).filter((i) => Number.isFinite(remembered[i]?.merit))
  order.sort((a, b) => (beliefs[b] ?? 0) - (beliefs[a] ?? 0) || a - b)
  return {
    best: order.flatMap((i) => remembered[i]?.attempt ?? []),
    predict({ idea, knobs, fingerprint }, parents) {
      const { family, category } = idea
      const from = idea.parents.length > 0 ? idea.parents : parents
      const point: Point = {
        knobs: axes.describe(knobs),
        way: ways.grown({ id: fingerprint, parents: from, family, category, knobs }),
      }
      const alike = Float64Array.from({ length: n }, (_, i) => likeness(point, points[i] as Point)) // i < n
      let mean = 0
      for (let i = 0; i < n; i++) mean += (alike[i] ?? 0) * (weights[i] ?? 0)
      let left = likeness(point, point)
      for (const part of solveLower(factor, alike)) left -= part * part
      return { mean, sd: Math.sqrt(Math.max(left, 0)) }
    },
  }
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
