// What helped before, as an additive Bayesian model: the merit of a candidate is a sum of effects of its knobs, of pairs and triples of
// them, and of the changes it is made of with their families and categories, each effect normal around 0. It is computed in the
// space of attempts (Rasmussen and Williams 2006, algorithm 2.1), where thousands of effects cost nothing.
import type { Attempt, CandidateIdea, Direction, Knobs, SearchState } from '../../contracts/index.ts'
import { normalCdf, normalQuantile } from '../../stats/index.ts'
import { fitScales, knobLikeness, type Scales, usualScales } from './additive-kernel.ts'
import { GaussianProcess, type Kernel, kernelRows, logExpectedImprovement, noisyFactor } from './gaussian-process.ts'
import { type KnobAxes, knobAxes } from './knob-axes.ts'
import { inCommon, type Lineage, type Lineages, lineages } from './lineage.ts'
import { inverse, type Triangle } from './linear-algebra.ts'

/** Variances of the effects of changes, beside a variance of scores of 1. */
const variance = { change: 0.3, family: 0.2, category: 0.1 }
/** Attempts after which the scales are fitted, for the first time and at last, and the growth after which it is done again. */
const fitted = { first: 8, last: 200, growth: 1.4 }

export interface AttemptModel {
  /** Attempts that were scored, by what the model believes of them, best first. */
  readonly best: readonly Attempt[]
  /** What the model believes of the first of them. */
  readonly top: number
  /** Chance that one that was scored is truly better than another, by all that was tried; undefined where one was not scored. */
  chanceOver(attempt: string, other: string): number | undefined
  /**
   * By how much one more seed of an attempt is expected to better a choice between it and another: the knowledge gradient of independent
   * beliefs (Frazier, Powell and Dayanik 2008). Undefined where one was not scored.
   */
  worthOfSeed(attempt: string, other: string): number | undefined
  /** What to expect of a candidate. */
  predict(candidate: CandidateIdea, parents: readonly string[]): Belief
  /** What to expect of a change of knobs that was not proposed. */
  imagine(knobs: Knobs, parents: readonly string[]): Belief
}

/** A normal belief, in standard deviations of all that was tried. */
type Belief = { readonly mean: number; readonly sd: number }

const kept = new WeakMap<SearchState, AttemptModel>()

/** The model of a state. It is a function of the state alone, so one state is worked out once. */
export function attemptModel(state: SearchState): AttemptModel {
  const known = kept.get(state)
  if (known !== undefined) return known
  const model = buildModel(state)
  kept.set(state, model)
  return model
}

function buildModel(state: SearchState): AttemptModel {
  const known = rememberedAttempts(state)
  const remembered = mostRelevant(known)
  const ways = lineages(state.attempts, state.rules)
  const coarseness = coarsenessOf(state)
  const { axes, scales, points, factor } = factorOf(state, { known, remembered, ways, coarseness })
  const kernel = kernelOf(axes, scales)
  const scores = normalScores(remembered.map(({ merit }) => merit))
  const process = new GaussianProcess({ kernel, points, factor, targets: scores })
  // The posterior mean at what was tried is its score less its share of noise.
  const noises = remembered.map(({ attempt }) => noiseOf(attempt, scales, coarseness))
  const beliefs = scores.map((score, i) => score - (noises[i] ?? 0) * (process.weights[i] ?? 0))
  const order = remembered.map((_, i) => i).filter((i) => Number.isFinite(remembered[i]?.merit))
  order.sort((a, b) => (beliefs[b] ?? 0) - (beliefs[a] ?? 0) || a - b)
  const inverted = once(() => inverse(factor))
  const stretch = once(() => ((state.rules ?? 1) < 2 ? 1 : calibration(process.weights, inverted())))
  const beliefAt = (point: Point): Belief => {
    const { mean, variance } = process.predict(point)
    return { mean, sd: stretch() * Math.sqrt(Math.max(variance, 0)) }
  }
  const chanceOver = (attempt: string, other: string) => {
    const [i, j] = [attempt, other].map((id) => remembered.findIndex((each) => each.attempt.id === id)) as [
      number,
      number,
    ] // two of two
    if (i < 0 || j < 0) return undefined
    if (i === j) return 0.5
    // The posterior covariance of what was tried is N - N (K + N)^-1 N.
    const [a, b] = [noises[i] ?? 0, noises[j] ?? 0]
    const at = (p: number, q: number) => inverted()[Math.max(p, q)]?.[Math.min(p, q)] ?? 0
    const variance = a + b - a * a * at(i, i) - b * b * at(j, j) + 2 * a * b * at(i, j)
    const apart = (beliefs[i] ?? 0) - (beliefs[j] ?? 0)
    return normalCdf(apart / Math.sqrt(Math.max(variance, 1e-12)))
  }
  const worthOfSeed = (attempt: string, other: string) => {
    const [i, j] = [attempt, other].map((id) => remembered.findIndex((each) => each.attempt.id === id)) as [
      number,
      number,
    ] // two of two
    if (i < 0 || j < 0 || i === j) return undefined
    const noise = noises[i] ?? 0
    const unsure = Math.max(0, noise - noise * noise * (inverted()[i]?.[i] ?? 0))
    const seed = (scales[scales.length - 1] ?? 0) * (1 - coarseness)
    const moves = unsure / Math.sqrt(Math.max(unsure + seed, 1e-12))
    return Math.exp(logExpectedImprovement(-Math.abs((beliefs[i] ?? 0) - (beliefs[j] ?? 0)), moves, 0))
  }
  return {
    best: order.flatMap((i) => remembered[i]?.attempt ?? []),
    chanceOver,
    worthOfSeed,
    top: beliefs[order[0] ?? -1] ?? 0,
    predict({ idea, knobs, fingerprint }, parents) {
      const { family, category } = idea
      const from = idea.parents.length > 0 ? idea.parents : parents
      const change = { id: fingerprint, parents: from, family, category, knobs, change: idea.change.kind }
      return beliefAt({ knobs: axes.describe(knobs), way: ways.grown(change) })
    },
    imagine(knobs, parents) {
      const change = { id: '', parents, family: '', category: 'hyperparameter', knobs, change: 'knobs' } as const
      return beliefAt({ knobs: axes.describe(knobs), way: ways.grown(change) })
    },
  }
}

function once<T>(work: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: work() }
    return made.value
  }
}

/** Newest attempts whose errors are counted, how many as large as expected are added, and how far a standard deviation is stretched. */
const calibrated = { newest: 40, expected: 10, least: 0.7, most: 1.6 }

// How large errors are beside what the model said of them: each attempt is held against what all others say of it (Rasmussen and Williams
// 2006, section 5.4.2). By this much what it says of others is stretched.
function calibration(weights: Float64Array, inverted: Triangle): number {
  const from = Math.max(0, weights.length - calibrated.newest)
  let squares = calibrated.expected
  for (let i = from; i < weights.length; i++) squares += (weights[i] as number) ** 2 / (inverted[i]?.[i] ?? 1)
  const ratio = Math.sqrt(squares / (calibrated.expected + weights.length - from))
  return Math.min(calibrated.most, Math.max(calibrated.least, ratio))
}

type Point = { readonly knobs: Int32Array; readonly way: Lineage }

type Factored = {
  readonly attempts: readonly Attempt[]
  readonly space: SearchState['space']
  readonly axes: KnobAxes
  /** Attempts that the scales were fitted to. */
  readonly fittedTo: readonly Attempt[]
  readonly scales: Scales
  readonly coarseness: number
  readonly points: readonly Point[]
  readonly factor: Triangle
}

const factored = new WeakMap<Attempt, Factored>()

// A session asks again after every attempt, and all rows but the last are the same: what was worked out for its baseline is grown.
function factorOf(
  state: SearchState,
  of: { known: Remembered[]; remembered: readonly Remembered[]; ways: Lineages; coarseness: number },
): Factored {
  const { known, remembered, ways, coarseness } = of
  const attempts = remembered.map(({ attempt }) => attempt)
  const [first] = attempts
  const kept = first === undefined ? undefined : factored.get(first)
  const all = attempts.map(({ knobs }) => knobs)
  const before = kept?.space === state.space && all.every(kept.axes.covers) ? kept : undefined
  const axes = before?.axes ?? knobAxes(state.space, all)
  const toFit = known.slice(0, axes.count === 0 ? 0 : fittedCount(known.length))
  const fittedTo = toFit.map(({ attempt }) => attempt)
  const fits =
    before !== undefined && before.fittedTo.length === fittedTo.length && startsWith(fittedTo, before.fittedTo)
  const scales = fits ? before.scales : scalesOf(axes, toFit, ways, coarseness)
  const grows = fits && before.coarseness === coarseness && startsWith(attempts, before.attempts)
  const old = grows ? before.points : []
  const points = [...old, ...attempts.slice(old.length).map((attempt) => pointOf(attempt, axes, ways))]
  const rows = kernelRows(kernelOf(axes, scales), points, old.length)
  const factor = noisyFactor(rows, (place) => noiseOf(attempts[place], scales, coarseness), grows ? before.factor : [])
  const result = { attempts, space: state.space, axes, fittedTo, scales, coarseness, points, factor }
  if (first !== undefined) factored.set(first, result)
  return result
}

function startsWith(attempts: readonly Attempt[], before: readonly Attempt[]): boolean {
  return before.length <= attempts.length && before.every((attempt, i) => attempt === attempts[i])
}

// A function of how many there are, so that a resumed session continues as it would have.
function fittedCount(known: number): number {
  let count = 0
  for (let next = fitted.first; next <= Math.min(known, fitted.last); next = Math.ceil(next * fitted.growth))
    count = next
  return count
}

function scalesOf(axes: KnobAxes, past: readonly Remembered[], ways: Lineages, coarseness: number): Scales {
  if (past.length === 0) return usualScales(axes.count)
  const points = past.map(({ attempt }) => pointOf(attempt, axes, ways))
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
  const seeds = past.map(({ attempt }) => 1 / shareOfNoise(attempt, coarseness))
  return fitScales({ axes: axes.count, parts, besides, seeds, scores: normalScores(past.map(({ merit }) => merit)) })
}

function pointOf({ id, knobs }: Attempt, axes: KnobAxes, ways: Lineages): Point {
  return { knobs: axes.describe(knobs), way: ways.of(id) }
}

function kernelOf(axes: KnobAxes, scales: Scales): Kernel<Point> {
  const parts = new Float64Array(axes.count + 1)
  return (a, b) => {
    axes.compare(a.knobs, b.knobs, parts)
    return knobLikeness(parts, 0, scales) + shared(a.way, b.way)
  }
}

function noiseOf(attempt: Attempt | undefined, scales: Scales, coarseness: number): number {
  return (scales[scales.length - 1] ?? 0) * shareOfNoise(attempt, coarseness)
}

// More seeds do not even out what the items of the split do.
function shareOfNoise(attempt: Attempt | undefined, coarseness: number): number {
  return coarseness + (1 - coarseness) / seedsOf(attempt)
}

/** Share of the noise of one score that is that of the items, as the races showed it; 0 in sessions of the first rules. */
function coarsenessOf({ attempts, rules = 1 }: SearchState): number {
  if (rules < 2) return 0
  const shares = attempts.flatMap(({ gain }) => {
    if (gain?.item_error === undefined || gain.n < 2) return []
    const items = gain.item_error ** 2
    const bySeed = Math.max(0, gain.sigma ** 2 - gain.n * items)
    return items + bySeed > 0 ? [items / (items + bySeed)] : []
  })
  return shares.length === 0 ? 0 : Math.round((20 * shares.reduce((sum, share) => sum + share, 0)) / shares.length) / 20
}

function seedsOf(attempt: Attempt | undefined): number {
  return Math.max(1, attempt?.scores.length ?? 1)
}

function shared(a: Lineage, b: Lineage): number {
  const { changes, families, categories } = inCommon(a, b)
  return variance.change * changes + variance.family * families + variance.category * categories
}

// What a session remembers: attempts with a score, and those that failed by their own fault.
/** The cost of the model grows with the cube of these: the newest and the best are remembered. */
const mostRemembered = 400

/** An attempt with what it was worth, more is better. */
type Remembered = { readonly attempt: Attempt; readonly merit: number }

// A candidate that failed is worse than all others: so the border of what fits and runs is learned. A machine that failed says
// nothing about the candidate.
function rememberedAttempts({ attempts, direction }: SearchState): Remembered[] {
  const all: Remembered[] = []
  for (const attempt of attempts) {
    const merit = meritOf(attempt, direction)
    if (merit !== undefined) all.push({ attempt, merit })
    else if (attempt.verdict === 'failed' && attempt.failure?.class !== 'infra') {
      all.push({ attempt, merit: Number.NEGATIVE_INFINITY })
    }
  }
  return all
}

/** Mean over its seeds, turned so that more is better; absent when nothing was measured or it failed. */
export function meritOf(attempt: Attempt, direction: Direction): number | undefined {
  const { scores, verdict } = attempt
  if (verdict === 'failed' || scores.length === 0) return undefined
  let sum = 0
  for (const { value } of scores) sum += value
  const mean = sum / scores.length
  if (!Number.isFinite(mean)) return undefined
  return direction === 'max' ? mean : -mean
}

/** As many of them as the model can take. */
function mostRelevant(all: readonly Remembered[]): readonly Remembered[] {
  if (all.length <= mostRemembered) return all
  const newest = all.slice(-mostRemembered / 2)
  const best = all.slice(0, -mostRemembered / 2).sort((a, b) => b.merit - a.merit)
  return [...best.slice(0, mostRemembered / 2), ...newest].sort((a, b) => a.attempt.number - b.attempt.number)
}

// Scores differ by tasks in scale, skew and tails (a diverged run is worse than any other by orders of magnitude). Their ranks do
// not: the model sees the normal quantile of a rank, so that no scale needs tuning.
/** The normal quantile of the rank of each value, more is better; equals share theirs, and mean and variance are 0 and 1. */
export function normalScores(values: readonly number[]): Float64Array {
  const n = values.length
  const order = values.map((_, place) => place).sort((a, b) => (values[a] as number) - (values[b] as number) || a - b)
  const scores = new Float64Array(n)
  for (let from = 0; from < n; ) {
    let to = from + 1
    while (to < n && values[order[to] as number] === values[order[from] as number]) to++
    const score = normalQuantile((from + to) / 2 / n)
    for (let rank = from; rank < to; rank++) scores[order[rank] as number] = score
    from = to
  }
  let squares = 0
  let sum = 0
  for (const score of scores) sum += score
  for (let i = 0; i < n; i++) {
    const centred = (scores[i] as number) - sum / n
    scores[i] = centred
    squares += centred * centred
  }
  const scale = squares > 0 ? Math.sqrt(n / squares) : 1
  return scores.map((score) => score * scale)
}
